package quic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// onLoopback starts listeners that echo and returns the configuration that dials them.
func onLoopback(t testing.TB, tr Transport, cfg wire.Config) (wire.Config, []atomic.Int64) {
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
				wg.Go(func() {
					defer c.Close()
					echoAll(c)
				})
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

func dialled(t testing.TB, tr Transport, cfg wire.Config, index int) echo.Conn {
	t.Helper()
	c, err := tr.Dial(t.Context(), cfg, index)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// roundTrips sends every message and waits for its echo.
func roundTrips(t testing.TB, c echo.Conn, messages ...[]byte) {
	t.Helper()
	buf := make([]byte, maxPayload)
	for i, m := range messages {
		if err := c.Send(m); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if n, err := c.Recv(buf); err != nil || !bytes.Equal(buf[:n], m) {
			t.Fatalf("echo %d of %d B: %d B, %v", i, len(m), n, err)
		}
	}
}

func TestListenersShareThePort(t *testing.T) {
	tr := Transport{firstPort: 16_000}
	cfg := wire.Default()
	cfg.Suite, cfg.Listeners = wire.SuiteConcurrent, 4
	cfg, counts := onLoopback(t, tr, cfg)
	for i := range 32 {
		c := dialled(t, tr, cfg, i)
		roundTrips(t, c, message(i), message(i+1))
		if local, want := c.(framed).base().qc.LocalAddr().(*net.UDPAddr).Port, 16_000+i; local != want {
			t.Errorf("connection %d comes from port %d, want %d", i, local, want)
		}
	}
	used, total := 0, int64(0)
	for i := range counts {
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
	for _, api := range []string{wire.APISend, wire.APIBatch} {
		tr := Transport{firstPort: 16_100}
		cfg := wire.Default()
		cfg.API = api
		cfg, _ = onLoopback(t, tr, cfg)
		c := dialled(t, tr, cfg, 0)
		for _, size := range []int{0, 1, 1400, 4096, maxPayload} {
			roundTrips(t, c, bytes.Repeat([]byte{byte(size + 1)}, size))
		}
		c.Close()
	}
}

func TestMessageLongerThanTheBuffer(t *testing.T) {
	tr := Transport{firstPort: 16_150}
	cfg, _ := onLoopback(t, tr, wire.Default())
	c := dialled(t, tr, cfg, 0)
	if err := c.Send(make([]byte, 2000)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Recv(make([]byte, 1999)); !errors.Is(err, echo.ErrTooLong) {
		t.Errorf("recv: %v, want echo.ErrTooLong", err)
	}
}

// TestServerClosesFirst is the other half of the orderly end; exchange sees the client close.
func TestServerClosesFirst(t *testing.T) {
	tr := Transport{firstPort: 16_200}
	cfg := wire.Default()
	cfg.Addr = netip.MustParseAddrPort("127.0.0.1:0")
	listeners, err := tr.Listen(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer listeners[0].Close()
	cfg.Addr = netip.MustParseAddrPort(listeners[0].Addr())
	c := dialled(t, tr, cfg, 0)
	server, err := listeners[0].Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	if _, err := c.Recv(make([]byte, 1)); err != io.EOF {
		t.Errorf("client saw %v, want io.EOF", err)
	}
}

func TestClosedListenerLeavesItsConnections(t *testing.T) {
	tr := Transport{firstPort: 16800}
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

func TestBadInput(t *testing.T) {
	tr := Transport{firstPort: 16_600}
	for _, mtu := range []int{-1, 1199, 1453} {
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
	if d.Transport != "quic-go" || !d.Reliable || d.Encryption != "TLS 1.3" || len(d.APIs) != 2 {
		t.Errorf("describe: %+v", d)
	}
}
