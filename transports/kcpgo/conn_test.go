package kcpgo

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"transportbench/transports/echo"
	"transportbench/transports/linksim"
	"transportbench/transports/wire"
)

var (
	clientAddr = netip.MustParseAddrPort("10.0.0.2:10000")
	serverAddr = netip.MustParseAddrPort("10.0.0.1:19342")
)

// overSim connects a client and a server over the simulated network. The clock is the real one: kcp-go runs its timers and its
// senders in goroutines of the process, which may not touch a synctest bubble.
func overSim(t *testing.T, idle time.Duration, network *linksim.Network) (client *conn, l *listener) {
	t.Helper()
	near, err := network.Listen(clientAddr)
	if err != nil {
		t.Fatal(err)
	}
	far, err := network.Listen(serverAddr)
	if err != nil {
		t.Fatal(err)
	}
	s := shared{cfg: wire.Default(), idle: idle}
	l, err = serve(far, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	client, err = dial(near, far.LocalAddr(), 0, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client, l
}

// message is number n of a test; its size and its bytes follow from n.
func message(n int) []byte {
	b := bytes.Repeat([]byte{byte(n)}, 8+n*37%3000)
	binary.LittleEndian.PutUint64(b, uint64(n))
	return b
}

func echoAll(c echo.Conn) error {
	buf := make([]byte, maxPayload)
	for {
		n, err := c.Recv(buf)
		if err != nil {
			return err
		}
		if err := c.Send(buf[:n]); err != nil {
			return err
		}
	}
}

// accepted echoes on the first connection of l and reports how it ended.
func accepted(t *testing.T, l echo.Listener) <-chan error {
	ended := make(chan error, 1)
	go func() {
		c, err := l.Accept(t.Context())
		if err == nil {
			err = echoAll(c)
			c.Close()
		}
		ended <- err
	}()
	return ended
}

// exchange has the messages echoed, all of them under way at once, and checks every byte and the order.
func exchange(t *testing.T, client echo.Conn, messages ...[]byte) {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		var failed error
		for n := 0; n < len(messages) && failed == nil; n++ {
			failed = client.Send(messages[n])
		}
		sent <- failed
	}()
	buf := make([]byte, maxPayload)
	for i, want := range messages {
		n, err := client.Recv(buf)
		if err != nil {
			t.Fatalf("echo %d: %v", i, err)
		}
		if !bytes.Equal(buf[:n], want) {
			t.Fatalf("echo %d differs: %d B, starts % x", i, n, buf[:min(n, 8)])
		}
	}
	if err := <-sent; err != nil {
		t.Errorf("sender: %v", err)
	}
}

func numbered(count int) (all [][]byte) {
	for n := range count {
		all = append(all, message(n))
	}
	return all
}

func TestMessagesSurviveTheNetwork(t *testing.T) {
	for name, path := range map[string]linksim.Path{
		"clean":     {},
		"loss 1 %":  {LossPPM: 10_000},
		"loss 5 %":  {LossPPM: 50_000},
		"reordered": {ReorderPPM: 100_000, ReorderBy: time.Millisecond},
		"doubled":   {DuplicatePPM: 200_000},
		"all":       {LossPPM: 20_000, DuplicatePPM: 20_000, ReorderPPM: 20_000, ReorderBy: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := linksim.New(1, path)
			client, l := overSim(t, idleTimeout, network)
			accepted(t, l)
			exchange(t, client, numbered(400)...)
			s := network.Total()
			if path.LossPPM > 0 && s.Lost == 0 || path.DuplicatePPM > 0 && s.Duplicated == 0 || path.ReorderPPM > 0 && s.Reordered == 0 {
				t.Errorf("the network did nothing: %+v", s)
			}
		})
	}
}

func TestServerEndsWhenTheClientHasGone(t *testing.T) {
	client, l := overSim(t, 50*time.Millisecond, linksim.New(1, linksim.Path{}))
	ended := accepted(t, l)
	exchange(t, client, numbered(3)...)
	client.Close()
	if err := <-ended; err != io.EOF {
		t.Errorf("server ended with %v, want io.EOF", err)
	}
}

func TestClientEndsWhenTheServerIsDead(t *testing.T) {
	network := linksim.New(1, linksim.Path{})
	client, l := overSim(t, 50*time.Millisecond, network)
	ended := accepted(t, l)
	exchange(t, client, numbered(3)...)
	network.SetPath(serverAddr, clientAddr, linksim.Path{LossPPM: 1_000_000})
	var err error
	for sent := 0; err == nil && sent < 1000; sent++ { // the send window closes after 64 segments
		err = client.Send(message(1))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("send ended with %v, want the idle timeout", err)
	}
	if _, err := client.Recv(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("recv ended with %v, want the idle timeout", err)
	}
	client.Close()
	if err := <-ended; err == nil {
		t.Error("the server did not notice")
	}
}

func TestProgressExtendsTheIdleTimeout(t *testing.T) {
	c := &conn{shared: shared{idle: time.Second}}
	set := 0
	extend := func(err error) bool {
		return c.extend(err, &c.seenRecv, func(time.Time) error { set++; return nil })
	}
	if extend(os.ErrDeadlineExceeded) {
		t.Error("extended without any progress")
	}
	c.progress.Add(1)
	if !extend(os.ErrDeadlineExceeded) {
		t.Error("not extended after progress")
	}
	if extend(os.ErrDeadlineExceeded) {
		t.Error("extended twice for the same progress")
	}
	c.progress.Add(1)
	if extend(io.ErrClosedPipe) {
		t.Error("extended a closed session")
	}
	if set != 1 {
		t.Errorf("deadline set %d times, want once", set)
	}
}

func TestCloseUnblocksItsOwnReader(t *testing.T) {
	client, _ := overSim(t, idleTimeout, linksim.New(1, linksim.Path{}))
	ended := make(chan error, 1)
	go func() {
		_, err := client.Recv(make([]byte, 1))
		ended <- err
	}()
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := client.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("recv ended with %v, want net.ErrClosed", err)
	}
}

func TestMessageLongerThanTheBuffer(t *testing.T) {
	client, l := overSim(t, idleTimeout, linksim.New(1, linksim.Path{}))
	accepted(t, l)
	if err := client.Send(make([]byte, 2000)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Recv(make([]byte, 1999)); !errors.Is(err, echo.ErrTooLong) {
		t.Errorf("recv: %v, want echo.ErrTooLong", err)
	}
}

// TestRecordsAreNotMerged pins what the package comment says: one small record is one segment, even when many wait.
func TestRecordsAreNotMerged(t *testing.T) {
	client, _ := overSim(t, 20*time.Millisecond, linksim.New(1, linksim.Path{LossPPM: 1_000_000}))
	for n := range 64 {
		if err := client.Send(make([]byte, 64)); err != nil {
			t.Fatalf("record %d: %v", n, err)
		}
	}
	if err := client.Send(make([]byte, 64)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("record 65 with 64 unacknowledged: %v, want a closed window of 64 segments", err)
	}
}

func TestAcceptFollowsItsContext(t *testing.T) {
	_, l := overSim(t, idleTimeout, linksim.New(1, linksim.Path{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Accept(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("accept: %v, want context.Canceled", err)
	}
}
