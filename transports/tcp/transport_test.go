package tcp

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

func config(listeners int) wire.Config {
	cfg := wire.Default()
	cfg.Addr, cfg.Listeners, cfg.Payload = netip.MustParseAddrPort("127.0.0.1:0"), listeners, 64
	return cfg
}

func listen(t *testing.T, cfg wire.Config) []echo.Listener {
	t.Helper()
	all, err := New().Listen(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, l := range all {
			_ = l.Close()
		}
	})
	return all
}

// connected returns both ends of one connection.
func connected(t *testing.T, cfg wire.Config, index int) (client, server echo.Conn) {
	t.Helper()
	l := listen(t, cfg)[0]
	cfg.Addr = netip.MustParseAddrPort(l.Addr())
	client, err := New().Dial(t.Context(), cfg, index)
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(); _ = server.Close() })
	return client, server
}

func tcpOf(c echo.Conn) stream {
	if b, ok := c.(*batchConn); ok {
		return b.tcp
	}
	return c.(*conn).tcp
}

func option(t *testing.T, c stream, level, opt int) int {
	t.Helper()
	v := 0
	if err := onSocket(c, func(fd int) (err error) { v, err = unix.GetsockoptInt(fd, level, opt); return err }); err != nil {
		t.Fatal(err)
	}
	return v
}

func localPort(t *testing.T, c stream) int {
	t.Helper()
	port := 0
	if err := onSocket(c, func(fd int) error {
		sa, err := unix.Getsockname(fd)
		if in, ok := sa.(*unix.SockaddrInet4); ok {
			port = in.Port
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return port
}

func TestListenersShareOnePortAndBacklog(t *testing.T) {
	limit := backlog
	if b, err := os.ReadFile("/proc/sys/net/core/somaxconn"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			limit = min(limit, n)
		}
	}
	all := listen(t, config(4))
	for i, l := range all {
		if l.Addr() != all[0].Addr() {
			t.Errorf("listener %d is on %s, the first on %s", i, l.Addr(), all[0].Addr())
		}
		raw, err := l.(*listener).tcp.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var info *unix.TCPInfo
		if err := control(raw, func(fd int) (err error) {
			info, err = unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if int(info.Sacked) != limit { // of a listening socket: its backlog (net/ipv4/tcp.c, tcp_get_info)
			t.Errorf("listener %d has a backlog of %d, want %d", i, info.Sacked, limit)
		}
	}
}

func TestSingleListenerIsExclusive(t *testing.T) {
	cfg := config(1)
	cfg.Addr = netip.MustParseAddrPort(listen(t, cfg)[0].Addr())
	if _, err := New().Listen(t.Context(), cfg); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("second server on the port: got %v", err)
	}
}

func TestSocketSettings(t *testing.T) {
	cfg := config(1)
	cfg.RcvBuf, cfg.SndBuf = 65536, 32768
	client, server := connected(t, cfg, 40)
	for name, c := range map[string]echo.Conn{"client": client, "server": server} {
		var s wire.Settings
		c.Settings(&s)
		if s.RcvBufGranted != 2*65536 || s.SndBufGranted != 2*32768 || s.CongestionControl == "" || s.MTU == 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if s.MinRTOUS < 1000 || s.MinRTOUS > 1_000_000 || s.MinRTOUS%1000 != 0 {
			t.Errorf("%s: minimum RTO of %d us", name, s.MinRTOUS)
		}
		if option(t, tcpOf(c), unix.IPPROTO_TCP, unix.TCP_NODELAY) == 0 {
			t.Errorf("%s: TCP_NODELAY is off", name)
		}
		if p := option(t, tcpOf(c), unix.SOL_SOCKET, unix.SO_PROTOCOL); p != unix.IPPROTO_TCP {
			t.Errorf("%s: protocol %d, multipath TCP must be off", name, p)
		}
	}
}

func TestSourcePorts(t *testing.T) {
	cfg := config(1)
	cfg.Connections = 100
	for port, want := range map[uint16]int{19342: 20007, 20099: 10007, 20000: 10007, 20100: 20007, 40000: 20007} {
		cfg.Addr = netip.AddrPortFrom(cfg.Addr.Addr(), port)
		if got := sourcePort(cfg, 7); got != want {
			t.Errorf("server port %d: source port %d, want %d", port, got, want)
		}
	}
	client, _ := connected(t, config(1), 41)
	if got := localPort(t, tcpOf(client)); got != 20041 {
		t.Errorf("connection 41 comes from port %d", got)
	}
}

func TestDialFails(t *testing.T) {
	l := listen(t, config(1))[0]
	cfg := config(1)
	cfg.Addr = netip.MustParseAddrPort(l.Addr())
	_ = l.Close()
	if _, err := New().Dial(t.Context(), cfg, 42); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

func TestSegmentsAreCounted(t *testing.T) {
	client, server := connected(t, config(1), 43)
	if err := client.Send([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Recv(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	// SYN, the handshake's ACK (which may carry the data) and the data.
	if segments, calls := client.(echo.Counted).Sent(); segments < 2 || calls >= 0 {
		t.Errorf("%d segments, %d calls", segments, calls)
	}
}

func TestConnEnds(t *testing.T) {
	for _, api := range []string{wire.APISend, wire.APIBatch} {
		for name, tc := range map[string]struct {
			raw  []byte
			want error
		}{
			"in order": {nil, io.EOF}, "in the header": {[]byte{3, 0}, io.ErrUnexpectedEOF}, "in the body": {[]byte{3, 0, 0, 0, 1}, io.ErrUnexpectedEOF},
			"too long": {[]byte{65, 0, 0, 0, 1}, echo.ErrTooLong},
		} {
			cfg := config(1)
			cfg.API = api
			client, server := connected(t, cfg, 44)
			if _, err := tcpOf(client).Write(tc.raw); err != nil {
				t.Fatal(err)
			}
			if err := onSocket(tcpOf(client), func(fd int) error { return unix.Shutdown(fd, unix.SHUT_WR) }); err != nil {
				t.Fatal(err)
			}
			if _, err := server.Recv(make([]byte, 64)); !errors.Is(err, tc.want) {
				t.Errorf("%s %s: got %v, want %v", api, name, err, tc.want)
			}
			_ = server.Close() // first, so that the next connection does not meet the port in TIME-WAIT
		}
	}
}

func TestBatchTakesWhatIsReady(t *testing.T) {
	cfg := config(1)
	cfg.API = wire.APIBatch
	client, server := connected(t, cfg, 45)
	msgs := make([][]byte, 40)
	for i := range msgs {
		msgs[i] = bytes.Repeat([]byte{byte(i)}, i)
	}
	if err := client.(echo.BatchConn).SendBatch(msgs); err != nil {
		t.Fatal(err)
	}
	next, calls := 0, 0
	for ; next < len(msgs); calls++ {
		bufs := make([][]byte, batchSize)
		for i := range bufs {
			bufs[i] = make([]byte, 64)
		}
		n, err := server.(echo.BatchConn).RecvBatch(bufs)
		if err != nil || n == 0 {
			t.Fatalf("%d messages, %v", n, err)
		}
		for _, b := range bufs[:n] {
			if !bytes.Equal(b, msgs[next]) {
				t.Fatalf("message %d is % x", next, b)
			}
			next++
		}
	}
	if calls >= len(msgs) {
		t.Errorf("%d calls for %d messages: nothing was batched", calls, len(msgs))
	}
}
