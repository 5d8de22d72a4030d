package quic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"

	quicgo "github.com/quic-go/quic-go"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// listener accepts the connections of one socket.
type listener struct {
	accept *quicgo.Listener
	pc     net.PacketConn
	shared shared
	keep   *keeper
}

// keeper closes a socket when the listener and the last accepted connection have let go of it: as with TCP, closing a listener
// leaves its connections alone.
type keeper struct {
	users   atomic.Int64
	release func() error
}

func (k *keeper) retain() { k.users.Add(1) }

func (k *keeper) drop() error {
	if k.users.Add(-1) > 0 {
		return nil
	}
	return k.release()
}

// shared is what the connections of one socket have in common.
type shared struct {
	cfg        wire.Config
	packetSize uint16
	socket     *socket // nil when the connection does not run over a UDP socket
}

// Listen opens cfg.Listeners sockets on one port, each with a listener of its own. Port 0 takes a free one for all.
func (t Transport) Listen(ctx context.Context, cfg wire.Config) ([]echo.Listener, error) {
	addr := cfg.Addr
	var open []echo.Listener
	for range max(1, cfg.Listeners) {
		l, err := listenOne(ctx, addr, cfg)
		if err != nil {
			for _, l := range open {
				l.Close()
			}
			return nil, err
		}
		open = append(open, l)
		addr = netip.AddrPortFrom(addr.Addr(), l.pc.LocalAddr().(*net.UDPAddr).AddrPort().Port())
	}
	return open, nil
}

func listenOne(ctx context.Context, addr netip.AddrPort, cfg wire.Config) (*listener, error) {
	s, err := openSocket(ctx, addr, true, cfg)
	if err != nil {
		return nil, fmt.Errorf("quic server: %w", err)
	}
	l, err := serve(s, cfg)
	if err != nil {
		s.Close()
		return nil, err
	}
	l.shared.socket = s
	if err := s.settle(); err != nil {
		l.Close()
		return nil, fmt.Errorf("quic server on %s: %w", addr, err)
	}
	return l, nil
}

// serve listens on any net.PacketConn and owns it when it returns without an error.
func serve(pc net.PacketConn, cfg wire.Config) (*listener, error) {
	size, err := packetSize(cfg)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := serverTLS()
	if err != nil {
		return nil, err
	}
	transport := &quicgo.Transport{Conn: pc}
	accept, err := transport.Listen(tlsConfig, quicConfig(size))
	if err != nil {
		return nil, fmt.Errorf("quic server on %s: %w", pc.LocalAddr(), err)
	}
	keep := &keeper{release: func() error { return errors.Join(transport.Close(), pc.Close()) }}
	keep.retain()
	return &listener{accept: accept, pc: pc, shared: shared{cfg: cfg, packetSize: size}, keep: keep}, nil
}

// Accept waits for the next connection whose handshake is complete.
func (l *listener) Accept(ctx context.Context) (echo.Conn, error) {
	qc, err := l.accept.Accept(ctx)
	if err != nil {
		return nil, fmt.Errorf("quic server on %s: accept: %w", l.Addr(), err)
	}
	l.keep.retain()
	c := newConn(qc, l.shared)
	c.base().release = l.keep.drop
	return c, nil
}

// Addr is the bound address.
func (l *listener) Addr() string { return l.pc.LocalAddr().String() }

// Close stops accepting. The socket is closed with the last accepted connection.
func (l *listener) Close() error {
	return errors.Join(l.accept.Close(), l.keep.drop())
}
