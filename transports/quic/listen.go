package quic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	quicgo "github.com/quic-go/quic-go"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// listener accepts the connections of one socket.
type listener struct {
	accept    *quicgo.Listener
	transport *quicgo.Transport
	pc        net.PacketConn
	shared    shared
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
	return &listener{accept: accept, transport: transport, pc: pc, shared: shared{cfg: cfg, packetSize: size}}, nil
}

// Accept waits for the next connection whose handshake is complete.
func (l *listener) Accept(ctx context.Context) (echo.Conn, error) {
	qc, err := l.accept.Accept(ctx)
	if err != nil {
		return nil, fmt.Errorf("quic server on %s: accept: %w", l.Addr(), err)
	}
	return newConn(qc, l.shared), nil
}

// Addr is the bound address.
func (l *listener) Addr() string { return l.pc.LocalAddr().String() }

// Close also ends the accepted connections that are still open.
func (l *listener) Close() error {
	return errors.Join(l.accept.Close(), l.transport.Close(), l.pc.Close())
}
