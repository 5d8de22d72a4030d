//go:build linux

package raknet

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"transportbench/transports/echotest/private"
)

// TestDialOnASmallLink: the kernel refuses datagrams over 576 B (EMSGSIZE), and the handshake takes the next size instead of failing.
func TestDialOnASmallLink(t *testing.T) {
	switch err := private.SetLoopbackMTU(576); {
	case errors.Is(err, private.ErrShared):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := private.SetLoopbackMTU(65536); err != nil {
			t.Error(err)
		}
	})
	l := listen(t, nil)
	go serveEchoes(l)
	exchange(t, dial(t, client(t, nil), l, nil), 64, 800, 4096, 64)
}

// TestNothingIsLeftOfClosedConnections connects and disconnects many times: goroutines, connections and heap return to where they were.
func TestNothingIsLeftOfClosedConnections(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 500
	}
	l := listen(t, nil)
	cl := client(t, nil)
	ctx, addr, buf := t.Context(), l.Addr().String(), make([]byte, 8) // not soon: what it registers would be left, too
	visit := func(times int) {
		for range times {
			c, err := cl.Dial(ctx, addr, nil)
			if err != nil {
				t.Fatal(err)
			}
			srv, err := l.Accept(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := srv.Recv(ctx, buf); !errors.Is(err, io.EOF) {
				t.Fatalf("server: %v", err)
			}
			srv.Close()
		}
	}
	visit(100) // pools and tables have their size
	goroutines, heap := left(t, l, cl)
	visit(n)
	after, grown := left(t, l, cl)
	if after > goroutines+2 || grown > heap+256<<10 {
		t.Errorf("%d connections later %d goroutines instead of %d, %d B of heap instead of %d", n, after, goroutines, grown, heap)
	}
}

// left waits until no connection is known any more and returns what is left.
func left(t *testing.T, l *Listener, cl *Client) (goroutines int, heap uint64) {
	known := func() (n int) {
		for _, sh := range slices.Concat(l.shards, cl.shards) {
			sh.mu.Lock()
			n += len(sh.all())
			sh.mu.Unlock()
		}
		return n
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for tick := time.NewTicker(time.Millisecond); known() > 0; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%d connections are still known", known())
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}
