package link

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"transportbench/pipeline/matrix"
)

const testPort = 4567

// floodMessages is enough for a packet ledger to see a loss that is wrong by a tenth; the loss report uses ten times more.
const floodMessages = 40_000

func mustApply(t testing.TB, spec matrix.LinkSpec, backend string) *Applied {
	t.Helper()
	a, err := Apply(context.Background(), spec, Options{Backend: backend, Seed: testSeed(), Port: testPort})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustClose(t testing.TB, a *Applied) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// settled reads the counters until they satisfy the condition; packets need a moment to cross a queue.
func settled(t *testing.T, a *Applied, ok func(Counters) bool) Counters {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		c := counters(t, a)
		if ok(c) {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatalf("counters never came to what was sent: %+v", c)
		}
	}
}

func counters(t testing.TB, a *Applied) Counters {
	t.Helper()
	c, err := a.Counters(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// echoServer returns every datagram to its sender until the test ends.
func echoServer(t testing.TB) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: testPort})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadBuffer(2 << 20)
	done := make(chan struct{})
	go func() { // ends when the socket closes
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			conn.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
}

// client is a closed-loop UDP sender: a slot whose echo does not come in time is reused.
type client struct {
	conn    *net.UDPConn
	echoed  map[uint64]bool
	payload []byte
}

func newClient(t testing.TB, index, payload int) *client {
	t.Helper()
	conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 20000 + index},
		&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: testPort})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{conn, map[uint64]bool{}, make([]byte, payload)}
}

// run sends messages with a window and waits at most patience for a missing echo.
func (c *client) run(messages, window int, patience time.Duration) error {
	buf := make([]byte, 2048)
	outstanding := 0
	for sent := 0; sent < messages || outstanding > 0; {
		for ; sent < messages && outstanding < window; sent++ {
			binary.LittleEndian.PutUint64(c.payload, uint64(sent))
			if _, err := c.conn.Write(c.payload); err != nil {
				return err
			}
			outstanding++
		}
		c.conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := c.conn.Read(buf); err != nil {
			outstanding = 0
			continue
		}
		c.echoed[binary.LittleEndian.Uint64(buf)] = true
		outstanding = max(outstanding-1, 0)
	}
	return nil
}

// roundTrips returns sorted times of one message at a time.
func (c *client) roundTrips(t *testing.T, n int) []time.Duration {
	t.Helper()
	var rtts []time.Duration
	for range n {
		start := time.Now()
		if err := c.run(1, 1, time.Second); err != nil {
			t.Fatal(err)
		}
		rtts = append(rtts, time.Since(start))
	}
	slices.Sort(rtts)
	return rtts
}

// flood sends messages from each of n clients through an echo server and returns the counters of exactly that traffic.
func flood(t *testing.T, a *Applied, n, messages int) Counters {
	t.Helper()
	before := counters(t, a)
	t.Run("flood", func(t *testing.T) {
		echoServer(t)
		var g errgroup.Group
		for i := range n {
			c := newClient(t, i, 64)
			g.Go(func() error { return c.run(messages, 32, 10*time.Millisecond) })
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
	})
	return counters(t, a).Sub(before)
}
