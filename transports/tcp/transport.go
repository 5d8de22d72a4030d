// Package tcp is the echo transport over the kernel's TCP: records of a 4-byte little-endian length and a body.
package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

const (
	// backlog of every listener (published: 4,096); the kernel caps it at net.core.somaxconn.
	backlog = 4096
	// maxPayload and maxConnections are what this driver accepts.
	maxPayload     = 64 << 20
	maxConnections = 8192
)

// Transport implements echo.Transport. Its zero value works too, with send buffers of their own for all connections dialled.
type Transport struct {
	out *outPool // shared by all connections dialled
}

// New returns a Transport whose connections share send buffers.
func New() Transport { return Transport{out: new(outPool)} }

// Describe says what this driver is; the version of TCP is the kernel's release.
func (Transport) Describe() wire.Describe {
	return wire.Describe{
		Transport: "tcp", TransportVersion: kernelRelease(), APIs: []string{wire.APISend, wire.APIBatch}, Features: []string{},
		Reliable: true, Encryption: "none", Limits: wire.Limits{MaxPayload: maxPayload, MaxConnections: maxConnections},
		Facts: []string{
			"language: Go, the kernel's TCP, TCP_NODELAY",
			"record: 4-byte little-endian length and body, one write; send: two reads a record; batch: one write for up to 16 ready records, buffered reads",
			"single, sparse: the sequential rounds wait in the kernel, not in Go's poller; so does a server with more than one processor",
			"congestion control and minimum RTO: those of the route, reported of a connected socket",
		},
	}
}

// Listen opens cfg.Listeners sockets on one port. ctx bounds only the opening.
func (Transport) Listen(ctx context.Context, cfg wire.Config) ([]echo.Listener, error) {
	cfg.Role = wire.RoleServer // decides how connections wait
	lc := net.ListenConfig{KeepAlive: -1, Control: func(_, _ string, c syscall.RawConn) error {
		return control(c, func(fd int) error {
			return errors.Join(setBuffers(fd, cfg), setReusePort(fd, cfg.Listeners > 1))
		})
	}}
	lc.SetMultipathTCP(false)
	addr, out := cfg.Addr, new(outPool)
	listeners := make([]echo.Listener, 0, cfg.Listeners)
	for range cfg.Listeners {
		l, err := open(ctx, lc, addr, cfg, out)
		if err != nil {
			for _, opened := range listeners {
				_ = opened.Close()
			}
			return nil, err
		}
		addr = l.tcp.Addr().(*net.TCPAddr).AddrPort() // port 0 is chosen once
		listeners = append(listeners, l)
	}
	return listeners, nil
}

func open(ctx context.Context, lc net.ListenConfig, addr netip.AddrPort, cfg wire.Config, out *outPool) (*listener, error) {
	l, err := lc.Listen(ctx, "tcp", addr.String())
	if err != nil {
		return nil, err
	}
	tcp := l.(*net.TCPListener) // what ListenConfig returns for network tcp
	raw, err := tcp.SyscallConn()
	if err == nil {
		err = control(raw, setBacklog)
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("listener backlog: %w", err)
	}
	return &listener{tcp: tcp, cfg: cfg, out: out}, nil
}

// redialPause and redialFor bound the attempts to get a fixed source port that an earlier connection still holds in TIME-WAIT; the
// kernel gives it up on loopback after a second (tcp_tw_reuse = 2).
const (
	redialPause = 50 * time.Millisecond
	redialFor   = 3 * time.Second
)

// Dial connects from the source port of its index.
func (t Transport) Dial(ctx context.Context, cfg wire.Config, index int) (echo.Conn, error) {
	cfg.Role = wire.RoleClient // decides how connections wait
	d := net.Dialer{KeepAlive: -1, LocalAddr: &net.TCPAddr{Port: sourcePort(cfg, index)}, Control: func(_, _ string, c syscall.RawConn) error {
		return control(c, func(fd int) error {
			return errors.Join(setBuffers(fd, cfg), setReuseAddr(fd))
		})
	}}
	d.SetMultipathTCP(false)
	out := t.out
	if out == nil {
		out = new(outPool)
	}
	for giveUp := time.Now().Add(redialFor); ; {
		c, err := d.DialContext(ctx, "tcp", cfg.Addr.String())
		if err == nil {
			return newConn(c.(*net.TCPConn), cfg, out)
		}
		held := errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EADDRNOTAVAIL)
		if !held || time.Now().After(giveUp) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(redialPause):
		}
	}
}

// sourcePort is fixed per connection index, so that the same connection meets the same hash in every run: 20000 + index, or
// 10000 + index when the server's port is among those. Both ranges end below the ephemeral ports (32768 and up by default).
func sourcePort(cfg wire.Config, index int) int {
	const usual, other = 20000, 10000
	if port := int(cfg.Addr.Port()); port >= usual && port < usual+cfg.Connections {
		return other + index
	}
	return usual + index
}

type listener struct {
	tcp *net.TCPListener
	cfg wire.Config
	out *outPool
}

// Accept is ended by Close; ctx is not watched, since a goroutine per listener would do nothing else.
func (l *listener) Accept(context.Context) (echo.Conn, error) {
	c, err := l.tcp.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return newConn(c, l.cfg, l.out)
}

func (l *listener) Addr() string { return l.tcp.Addr().String() }

func (l *listener) Close() error { return l.tcp.Close() }
