package kcpgo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"transportbench/transports/wire"
)

// onLoopback starts listeners that echo and returns the configuration that dials them.
func onLoopback(t *testing.T, tr Transport, cfg wire.Config) (wire.Config, []atomic.Int64) {
	t.Helper()
	cfg.Addr = netip.MustParseAddrPort("127.0.0.1:0")
	listeners, err := tr.Listen(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	counts := make([]atomic.Int64, len(listeners))
	var wg sync.WaitGroup
	for i, l := range listeners {
		wg.Go(func() {
			for {
				c, err := l.Accept(ctx)
				if err != nil {
					return
				}
				counts[i].Add(1)
				go func() {
					defer c.Close()
					echoAll(c)
				}()
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		for _, l := range listeners {
			l.Close()
		}
		wg.Wait()
	})
	cfg.Addr = netip.MustParseAddrPort(listeners[0].Addr())
	return cfg, counts
}

func TestListenersShareThePort(t *testing.T) {
	tr := Transport{firstPort: 15_000}
	cfg := wire.Default()
	cfg.Suite, cfg.Listeners = wire.SuiteConcurrent, 4
	cfg, counts := onLoopback(t, tr, cfg)
	for i := range 32 {
		c, err := tr.Dial(t.Context(), cfg, i)
		if err != nil {
			t.Fatal(err)
		}
		exchange(t, c, message(i), message(i+1))
		if local, want := c.(*conn).session.LocalAddr().(*net.UDPAddr).Port, 15_000+i; local != want {
			t.Errorf("connection %d comes from port %d, want %d", i, local, want)
		}
		if conv := c.(*conn).session.GetConv(); conv != uint32(42+i) {
			t.Errorf("connection %d has conversation %d", i, conv)
		}
		defer c.Close() // not before they are counted: what a closed session sends again would open another one
	}
	used, total := 0, int64(0)
	for i := range counts { // every Accept happened before the echo that exchange waited for
		n := counts[i].Load()
		total += n
		if n > 0 {
			used++
		}
	}
	if total != 32 || used < 2 {
		t.Errorf("%d listeners accepted %d connections, want 32 over several", used, total)
	}
}

func TestBigMessages(t *testing.T) {
	tr := Transport{firstPort: 15_100}
	cfg, _ := onLoopback(t, tr, wire.Default())
	c, err := tr.Dial(t.Context(), cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var messages [][]byte
	for _, size := range []int{1, 1371, 1372, 1373, 1376, 4096, maxPayload} { // around the segment of 1,376 B with its 4 B header
		messages = append(messages, bytes.Repeat([]byte{byte(size)}, size))
	}
	exchange(t, c, messages...)
}

func TestSettingsAreReadBack(t *testing.T) {
	for suite, want := range map[string][2]int{wire.SuiteSingle: {64, 64}, wire.SuiteSparse: {64, 64}, wire.SuiteConcurrent: {64, 128}, wire.SuiteLoaded: {64, 128}} {
		tr := Transport{firstPort: 15_200}
		cfg := wire.Default()
		cfg.Suite, cfg.RcvBuf = suite, 100_000
		cfg, _ = onLoopback(t, tr, cfg)
		c, err := tr.Dial(t.Context(), cfg, 0)
		if err != nil {
			t.Fatal(err)
		}
		var s wire.Settings
		c.Settings(&s)
		c.Close()
		if *s.TransportWindow != want || s.MTU != 1400 || s.MinRTOUS != 30_000 {
			t.Errorf("%s: window %v, mtu %d, minimum RTO %d µs", suite, *s.TransportWindow, s.MTU, s.MinRTOUS)
		}
		if s.RcvBufRequested != 100_000 || s.RcvBufGranted != 200_000 || s.SndBufRequested != wantedBuffer || s.SndBufGranted == 0 {
			t.Errorf("%s: buffers %+v", suite, s)
		}
	}
}

func TestClosedListenerLeavesItsConnections(t *testing.T) {
	tr := Transport{firstPort: 15800}
	cfg := wire.Default()
	cfg.Addr = netip.MustParseAddrPort("127.0.0.1:0")
	listeners, err := tr.Listen(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Addr = netip.MustParseAddrPort(listeners[0].Addr())
	c, err := tr.Dial(t.Context(), cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send(message(1)); err != nil {
		t.Fatal(err)
	}
	server, err := listeners[0].Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := listeners[0].Close(); err != nil {
		t.Error(err)
	}
	go echoAll(server)
	buf := make([]byte, maxPayload)
	if n, err := c.Recv(buf); err != nil || !bytes.Equal(buf[:n], message(1)) {
		t.Errorf("echo after the listener was closed: %d B, %v", n, err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	again, err := net.ListenPacket("udp4", cfg.Addr.String())
	if err != nil {
		t.Fatalf("the last connection left the socket open: %v", err)
	}
	again.Close()
}

func TestSourcePort(t *testing.T) {
	for _, test := range []struct{ server, index, want int }{
		{19_342, 0, 20_000}, {19_342, 8191, 28_191}, {20_005, 4, 20_004}, {20_005, 5, 20_006}, {20_005, 6, 20_007},
	} {
		if got := sourcePort(firstSourcePort, test.server, test.index); got != test.want {
			t.Errorf("server %d, index %d: port %d, want %d", test.server, test.index, got, test.want)
		}
	}
}

func TestBadInput(t *testing.T) {
	tr := Transport{firstPort: 15_300}
	for _, mtu := range []int{-1, 49, 1473} {
		cfg := wire.Default()
		cfg.Addr, cfg.MTU = netip.MustParseAddrPort("127.0.0.1:0"), mtu
		var usage *wire.UsageError
		if _, err := tr.Listen(t.Context(), cfg); !errors.As(err, &usage) {
			t.Errorf("listen with mtu %d: %v, want a usage error", mtu, err)
		}
		if _, err := tr.Dial(t.Context(), cfg, 0); !errors.As(err, &usage) {
			t.Errorf("dial with mtu %d: %v, want a usage error", mtu, err)
		}
	}
	cfg, _ := onLoopback(t, tr, wire.Default())
	taken, err := net.ListenPacket("udp4", fmt.Sprintf("0.0.0.0:%d", tr.firstPort))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := tr.Dial(t.Context(), cfg, 0); err == nil {
		t.Error("dial succeeded although its source port is taken")
	}
}

func TestDescribe(t *testing.T) {
	d := Transport{}.Describe()
	if d.Transport != "kcp-go" || !d.Reliable || d.Encryption != "none" || len(d.APIs) != 1 || d.APIs[0] != wire.APISend {
		t.Errorf("describe: %+v", d)
	}
}
