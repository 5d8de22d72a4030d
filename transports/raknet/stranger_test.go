//go:build linux

package raknet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

// TestNobodyElseIsObeyed sends what would end or upset a connection from other source addresses, to both ends.
func TestNobodyElseIsObeyed(t *testing.T) {
	cli, srv, l := pair(t, nil, nil)
	go echo(srv)
	bad := [][]byte{
		{codec.IDDisconnect},
		datagram(codec.Frame{Mode: codec.Reliable, Index: 2, Body: []byte{codec.IDDisconnect}}, 3),
		datagram(codec.Frame{Mode: codec.ReliableOrdered, Index: 2, Order: 1, Body: []byte("\xfeforged")}, 3),
	}
	for _, to := range []netip.AddrPort{l.Addr(), netip.AddrPortFrom(l.Addr().Addr(), cli.LocalAddr().Port())} {
		s := stranger(t, to)
		for _, b := range bad {
			if _, err := s.Write(b); err != nil && to == l.Addr() { // the client's socket refuses strangers itself
				t.Fatal(err)
			}
		}
	}
	exchange(t, cli, 64, 800)
}

// TestGarbage throws datagrams of odd sizes and contents at a listener and, from the address of a connection, at the session.
func TestGarbage(t *testing.T) {
	l := listen(t, &ListenOptions{NoCookies: true, MaxMTU: MaxMTU})
	go serveEchoes(l)
	conn := dial(t, client(t, nil), l, &DialOptions{MTU: 1400})
	s := stranger(t, l.Addr())
	for _, size := range []int{1, 2, 3, 4, 18, 1464, 1501, 9000, 65_507} {
		for _, first := range []byte{0, 1, 5, 6, 7, 8, 9, 0x15, 0x80, 0x84, 0xa0, 0xc0, 0xff} {
			b := make([]byte, size)
			b[0] = first
			if _, err := s.Write(b); err != nil {
				t.Fatal(err)
			}
			conn.sh.mu.Lock()
			conn.sh.tx.One(conn.fd, b, nil)
			conn.sh.mu.Unlock()
		}
	}
	exchange(t, conn, 64, 800, 4096)
	exchange(t, dial(t, client(t, nil), l, nil), 64)
}

// TestHalfOpen leaves a hundred handshakes unfinished; the next one must succeed.
func TestHalfOpen(t *testing.T) {
	l := listen(t, &ListenOptions{NoCookies: true})
	go serveEchoes(l)
	for i := range 100 {
		s := stranger(t, l.Addr())
		if _, err := s.Write(codec.Request2{Server: l.Addr(), MTU: 1400, GUID: int64(i)}.Append(nil)); err != nil {
			t.Fatal(err)
		}
		s.SetReadDeadline(time.Now().Add(patience))
		if _, err := s.Read(make([]byte, 100)); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	if n := l.half.Load(); n != 100 {
		t.Errorf("%d handshakes are counted", n)
	}
	exchange(t, dial(t, client(t, nil), l, nil), 64)
}

// TestDialBeforeListen starts the server after the first request was refused by the kernel.
func TestDialBeforeListen(t *testing.T) {
	free := listen(t, nil)
	addr := free.Addr().String()
	free.Close()
	done := make(chan error, 1)
	go func() {
		c, err := client(t, nil).Dial(soon(t), addr, nil)
		if err == nil {
			err = c.Send(soon(t), message(64, 0))
		}
		done <- err
	}()
	timer := time.NewTimer(50 * time.Millisecond) // the server being late is the input
	<-timer.C
	l, err := Listen(addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestReconnectFromTheSamePort lets a client vanish without a word and come back from its old port.
func TestReconnectFromTheSamePort(t *testing.T) {
	for _, noCookies := range []bool{false, true} {
		l := listen(t, &ListenOptions{NoCookies: noCookies})
		local := netip.MustParseAddrPort("127.0.0.1:0")
		for i := range 2 {
			cl := client(t, nil)
			c := dial(t, cl, l, &DialOptions{LocalAddr: local})
			local = c.LocalAddr()
			srv, err := l.Accept(soon(t))
			if err != nil {
				t.Fatal(err)
			}
			go echo(srv)
			exchange(t, c, 64)
			if i == 0 {
				cl.vanish()
			}
		}
	}
}

// vanish closes the sockets of c's connections without telling anyone.
func (c *Client) vanish() {
	for _, sh := range c.shards {
		sh.mu.Lock()
		for _, conn := range sh.all() {
			conn.s.Abort(errors.New("vanished"))
			sh.settle(conn)
		}
		sh.mu.Unlock()
	}
	c.Close()
}

func TestForgedRequestFromTheAddressOfAConnection(t *testing.T) {
	l := listen(t, &ListenOptions{NoCookies: true})
	go serveEchoes(l)
	conn := dial(t, client(t, nil), l, nil)
	conn.sh.mu.Lock()
	conn.sh.tx.One(conn.fd, codec.Request2{Server: l.Addr(), MTU: 1400, GUID: 666}.Append(nil), nil)
	conn.sh.mu.Unlock()
	exchange(t, conn, 64, 64, 64)
	if st := conn.Stats(); st.DatagramsIn == 0 || !conn.s.Connected() {
		t.Errorf("%+v", st)
	}
}

func TestPing(t *testing.T) {
	l := listen(t, &ListenOptions{PongData: []byte("MCPE;hello;")})
	p, err := Ping(soon(t), l.Addr().String(), nil)
	if err != nil || string(p.Data) != "MCPE;hello;" || p.GUID != l.GUID() || p.RTT <= 0 {
		t.Fatalf("%+v %v", p, err)
	}
	if err := l.SetPongData([]byte("other")); err != nil {
		t.Fatal(err)
	}
	if p, err = Ping(soon(t), l.Addr().String(), nil); err != nil || string(p.Data) != "other" {
		t.Fatalf("%+v %v", p, err)
	}
	wantErr(t, "long pong", l.SetPongData(make([]byte, 478)), ErrOption)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = Ping(ctx, "127.0.0.1:9", nil)
	wantErr(t, "nobody there", err, context.DeadlineExceeded)
}

func TestPongsAreLimited(t *testing.T) {
	l := listen(t, nil)
	s := stranger(t, l.Addr())
	for range 50 {
		if _, err := s.Write(codec.Ping{Time: 1}.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	n := answers(s)
	if n == 0 || n > 8 { // two windows of a second at most
		t.Errorf("%d pongs", n)
	}
}

// answers counts the datagrams that come before a pause.
func answers(s *net.UDPConn) (n int) {
	buf := make([]byte, 2048)
	for {
		s.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := s.Read(buf); err != nil {
			return n
		}
		n++
	}
}

// TestNoAllocation counts allocations per message in the steady state, on both ends together.
func TestNoAllocation(t *testing.T) {
	for _, size := range []int{64, 800, 4096} {
		noAllocation(t, size)
	}
}

func noAllocation(t *testing.T, size int) {
	cli, srv, _ := pair(t, nil, nil)
	ctx := context.Background()
	b, buf := message(size, 0), make([]byte, size)
	once := func() {
		if err := cli.Send(ctx, b); err != nil {
			t.Fatal(err)
		}
		if _, err := srv.Recv(ctx, buf); err != nil {
			t.Fatal(err)
		}
	}
	for range 5000 {
		once()
	}
	if n := testing.AllocsPerRun(5000, once); n != 0 {
		t.Errorf("%v allocations per message of %d B", n, size)
	}
}

// TestIdleConnectionsAreSmall bounds the heap of an idle connection, both ends together.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const n = 500
	l := listen(t, &ListenOptions{Backlog: n + 1, NoCookies: true})
	cl := client(t, nil)
	dial(t, cl, l, &DialOptions{MTU: 1400})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range n {
		dial(t, cl, l, &DialOptions{MTU: 1400})
	}
	if per := (int64(heap()) - int64(before)) / n; per > 2*4096 {
		t.Errorf("%d bytes per connection and its peer, want at most 4 KiB for each", per)
	} else {
		t.Logf("%d bytes per connection and its peer", per)
	}
}

func BenchmarkEcho(b *testing.B) {
	l := listen(b, nil)
	go serveEchoes(l)
	c := dial(b, client(b, nil), l, nil)
	ctx := context.Background()
	msg, buf := message(800, 0), make([]byte, 800)
	b.ReportAllocs()
	for b.Loop() {
		if c.Send(ctx, msg) != nil {
			b.Fatal("send")
		}
		if _, err := c.Recv(ctx, buf); err != nil {
			b.Fatal(err)
		}
	}
}

func datagram(f codec.Frame, number uint32) []byte {
	return f.Append(codec.AppendDatagram(nil, codec.HeaderFrames, number))
}
