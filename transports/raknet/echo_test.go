//go:build linux

package raknet

import (
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestEcho(t *testing.T) {
	for name, c := range map[string]struct {
		l ListenOptions
		d DialOptions
	}{
		"cookies":     {ListenOptions{}, DialOptions{}},
		"no cookies":  {ListenOptions{NoCookies: true}, DialOptions{Protocol: Protocol10}},
		"MTU 1428":    {ListenOptions{MaxMTU: 1428, NoCookies: true}, DialOptions{MTU: 1428, Protocol: Protocol10}},
		"MTU 400":     {ListenOptions{MaxMTU: 400}, DialOptions{}},
		"four shards": {ListenOptions{Shards: 4}, DialOptions{}},
		"gso, spin":   {ListenOptions{Tuning: Tuning{GSO: true, Spin: time.Millisecond}}, DialOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			l := listen(t, &c.l)
			go serveEchoes(l)
			conn := dial(t, client(t, &c.l.Tuning), l, &c.d)
			exchange(t, conn, 1, 17, 64, 800, 1340, 1341, 4096, 10_000, 60_000)
			if err := conn.Flush(soon(t)); err != nil {
				t.Error(err)
			}
			if st := conn.Stats(); st.Buffered != 0 || st.Sent != 9 || st.Received != 9 || st.Malformed != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestIPv6(t *testing.T) {
	l, err := Listen("[::1]:0", nil)
	if err != nil {
		t.Skipf("unsupported: IPv6 on loopback: %v", err)
	}
	defer l.Close()
	go serveEchoes(l)
	exchange(t, dial(t, client(t, nil), l, nil), 64, 4096)
}

func TestModes(t *testing.T) {
	cli, srv, _ := pair(t, nil, nil)
	for mode := Unreliable; mode <= ReliableSequenced; mode++ {
		for _, channel := range []uint8{0, 7, Channels - 1} {
			want := append([]byte{0xfe, byte(mode), channel}, "text"...)
			if err := cli.SendMessage(soon(t), Message{Data: want, Reliability: mode, Channel: channel}); err != nil {
				t.Fatal(err)
			}
			got, err := srv.RecvOwned(soon(t))
			if err != nil || string(got.Bytes()) != string(want) {
				t.Fatalf("mode %d channel %d: %q %v", mode, channel, got.Bytes(), err)
			}
			got.Release()
			got.Release()
		}
	}
	wantErr(t, "large unordered message", cli.SendMessage(soon(t), Message{Data: message(5000, 0), Reliability: Reliable}), ErrTooLarge)
	wantErr(t, "channel 32", cli.SendMessage(soon(t), Message{Data: []byte{0xfe}, Reliability: ReliableOrdered, Channel: 32}), ErrChannel)
	wantErr(t, "empty", cli.Send(soon(t), nil), ErrEmpty)
	wantErr(t, "reserved", cli.Send(soon(t), []byte{0x09}), ErrReserved)
}

func TestOwned(t *testing.T) {
	cli, srv, _ := pair(t, nil, nil)
	for _, size := range []int{64, 800, 5000} {
		if err := cli.SendOwned(soon(t), message(size, 1)); err != nil {
			t.Fatal(err)
		}
		got, err := srv.RecvOwned(soon(t))
		if err != nil || string(got.Bytes()) != string(message(size, 1)) {
			t.Fatalf("owned message of %d B: %d B %v", size, len(got.Bytes()), err)
		}
	}
}

func TestBatches(t *testing.T) {
	cli, srv, _ := pair(t, nil, nil)
	var msgs, bufs [][]byte
	for i := range 16 {
		msgs, bufs = append(msgs, message(64, i)), append(bufs, make([]byte, 64))
	}
	if err := cli.SendBatch(soon(t), msgs); err != nil {
		t.Fatal(err)
	}
	for got := 0; got < 16; {
		n, err := srv.RecvBatch(soon(t), bufs[got:])
		if err != nil {
			t.Fatal(err)
		}
		got += n
	}
	for i := range msgs {
		if string(bufs[i]) != string(msgs[i]) {
			t.Errorf("message %d of a batch is wrong", i)
		}
	}
	if st := cli.Stats(); st.Packed != 16 || !st.Packing {
		t.Errorf("%+v", st)
	}
}

func TestShortBuffer(t *testing.T) {
	cli, srv, _ := pair(t, nil, nil)
	if err := cli.Send(soon(t), message(500, 0)); err != nil {
		t.Fatal(err)
	}
	if n, err := srv.Recv(soon(t), make([]byte, 100)); n != 500 || err != io.ErrShortBuffer {
		t.Errorf("short buffer: %d %v", n, err)
	}
	if n, err := srv.Recv(soon(t), make([]byte, 500)); n != 500 || err != nil {
		t.Errorf("after the short buffer: %d %v", n, err)
	}
}

func TestManyConnections(t *testing.T) {
	l := listen(t, &ListenOptions{NoCookies: true, Shards: 4})
	go serveEchoes(l)
	cl := client(t, nil)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() { exchange(t, dial(t, cl, l, nil), 64, 800, 4096, 64, 64) })
	}
	wg.Wait()
}

func TestWaitsEnd(t *testing.T) {
	cli, srv, _ := pair(t, nil, nil)
	buf := make([]byte, 100)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	_, err := cli.Recv(ctx, buf)
	wantErr(t, "receive with a cancelled context", err, context.Canceled)
	cli.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	_, err = cli.Recv(context.Background(), buf)
	wantErr(t, "receive past the deadline", err, os.ErrDeadlineExceeded)
	cli.SetReadDeadline(time.Time{})
	for err = nil; err == nil; { // nobody reads at the other end
		srv.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		err = srv.Send(context.Background(), message(60_000, 0))
	}
	wantErr(t, "send past the deadline", err, os.ErrDeadlineExceeded)
	srv.SetWriteDeadline(time.Time{})
	other := make(chan error)
	go func() { other <- srv.Send(context.Background(), message(60_000, 0)) }()
	go func() { _, err := srv.Recv(context.Background(), make([]byte, 100)); other <- err }()
	time.AfterFunc(5*time.Millisecond, func() { srv.Close() })
	wantErr(t, "call during Close", <-other, ErrClosed)
	wantErr(t, "call during Close", <-other, ErrClosed)
}

func TestOrderlyEnd(t *testing.T) {
	cli, srv, l := pair(t, nil, nil)
	for i := range 5 {
		if err := cli.Send(soon(t), message(100, i)); err != nil {
			t.Fatal(err)
		}
	}
	cli.Close()
	buf := make([]byte, 100)
	for i := range 5 {
		if _, err := srv.Recv(soon(t), buf); err != nil || string(buf) != string(message(100, i)) {
			t.Fatalf("message %d before the end: %v", i, err)
		}
	}
	if _, err := srv.Recv(soon(t), buf); err != io.EOF {
		t.Errorf("end: %v", err)
	}
	wantErr(t, "send after the end", srv.Send(soon(t), message(9, 0)), ErrPeerClosed)
	wantErr(t, "send after Close", cli.Send(soon(t), message(9, 0)), ErrClosed)
	l.Close()
	_, err := l.Accept(soon(t))
	wantErr(t, "accept after Close", err, ErrClosed)
}

func TestPolicy(t *testing.T) {
	cli, srv, _ := pair(t, nil, nil)
	if _, ok := cli.SendPolicy(); ok {
		t.Error("a policy is set from the start")
	}
	p := DefaultSendPolicy()
	if err := cli.SetSendPolicy(&p); err != nil {
		t.Fatal(err)
	}
	if q, ok := cli.SendPolicy(); !ok || q != p {
		t.Errorf("%+v %v", q, ok)
	}
	bad := p
	bad.InFlightFrames = 0
	wantErr(t, "no frames", cli.SetSendPolicy(&bad), ErrOption)
	small := SendPolicy{InFlightFrames: 4, InFlightBytes: 4096, ReliableQueueBytes: 4096, UnreliableQueueBytes: 4096, FlushBytes: 2048}
	for _, policy := range []*SendPolicy{&p, &small, nil} {
		if err := cli.SetSendPolicy(policy); err != nil {
			t.Fatal(err)
		}
		go echo(srv)
		exchange(t, cli, 64, 800, 4096, 20_000)
	}
}

// TestReaderThatPauses moves 16 MiB in messages of 4 KiB to a reader that now and then stops for 30 ms.
func TestReaderThatPauses(t *testing.T) {
	cli, srv, _ := pair(t, nil, nil)
	const total = 4096
	go func() {
		for i := range total {
			if err := cli.Send(context.Background(), message(4096, i)); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	buf := make([]byte, 4096)
	for i := range total {
		if i%1000 == 0 {
			timer := time.NewTimer(30 * time.Millisecond) // the pause is the input of this test
			<-timer.C
		}
		if _, err := srv.Recv(soon(t), buf); err != nil || string(buf) != string(message(4096, i)) {
			t.Fatalf("message %d: %v", i, err)
		}
	}
}

// TestOthersGoOn leaves one connection unread; another on the same shard must not notice.
func TestOthersGoOn(t *testing.T) {
	l := listen(t, nil)
	cl := client(t, nil)
	lazy := dial(t, cl, l, nil)
	if _, err := l.Accept(soon(t)); err != nil {
		t.Fatal(err)
	}
	lazy.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	for lazy.Send(context.Background(), message(1000, 0)) == nil {
	}
	go serveEchoes(l)
	exchange(t, dial(t, cl, l, nil), 800, 800, 4096)
}

func TestConnectAndDisconnect(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	l := listen(t, &ListenOptions{Tuning: Tuning{Linger: time.Millisecond}})
	go serveEchoes(l)
	cl := client(t, &Tuning{Linger: time.Millisecond})
	exchange(t, dial(t, cl, l, nil), 64)
	before := runtime.NumGoroutine()
	for range rounds {
		c := dial(t, cl, l, nil)
		exchange(t, c, 64)
		c.Close()
	}
	left := func() (n int) {
		for _, sh := range append(l.shards[:1:1], cl.shards...) {
			sh.mu.Lock()
			n += sh.alive
			sh.mu.Unlock()
		}
		return n
	}
	for end := time.Now().Add(patience); left() > 2 || runtime.NumGoroutine() > before+2; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d connections and %d goroutines are left, started with %d", left(), runtime.NumGoroutine(), before)
		}
	}
}

func TestOpError(t *testing.T) {
	_, err := Dial(soon(t), "no port", nil)
	wantErr(t, "address without port", err, ErrOption)
	_, err = Dial(soon(t), "name.invalid:1", nil)
	wantErr(t, "name without resolver", err, ErrOption)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = Dial(ctx, "127.0.0.1:9", nil)
	wantErr(t, "nobody there", err, context.DeadlineExceeded)
	if !strings.Contains(err.Error(), "raknet dial 127.0.0.1:9") {
		t.Errorf("error does not name the peer: %v", err)
	}
}
