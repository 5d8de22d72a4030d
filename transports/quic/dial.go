package quic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// Dial opens connection index from a socket of its own and waits for the handshake.
func (t Transport) Dial(ctx context.Context, cfg wire.Config, index int) (echo.Conn, error) {
	first := t.firstPort
	if first == 0 {
		first = firstSourcePort
	}
	wildcard := netip.IPv6Unspecified()
	if cfg.Addr.Addr().Unmap().Is4() {
		wildcard = netip.IPv4Unspecified()
	}
	port := sourcePort(first, int(cfg.Addr.Port()), index)
	s, err := openSocket(ctx, netip.AddrPortFrom(wildcard, uint16(port)), false, cfg)
	if err != nil {
		return nil, fmt.Errorf("quic connection %d: %w", index, err)
	}
	c, err := dial(ctx, s, net.UDPAddrFromAddrPort(cfg.Addr), cfg)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("quic connection %d: %w", index, err)
	}
	c.base().shared.socket = s
	if err := s.settle(); err != nil {
		c.Close()
		return nil, fmt.Errorf("quic connection %d: %w", index, err)
	}
	return c, nil
}

// dial connects over any net.PacketConn and owns it when it returns without an error.
func dial(ctx context.Context, pc net.PacketConn, server net.Addr, cfg wire.Config) (framed, error) {
	size, err := packetSize(cfg)
	if err != nil {
		return nil, err
	}
	transport := &quicgo.Transport{Conn: pc}
	qc, err := transport.Dial(ctx, server, clientTLS(), quicConfig(size))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("handshake with %s: %w", server, err), transport.Close())
	}
	stream, err := qc.OpenStreamSync(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("stream to %s: %w", server, err), transport.Close())
	}
	if cfg.Deadline > 0 {
		if err := stream.SetDeadline(time.Now().Add(cfg.Deadline)); err != nil {
			return nil, errors.Join(fmt.Errorf("stream to %s: %w", server, err), transport.Close())
		}
	}
	c := newConn(qc, shared{cfg: cfg, packetSize: size})
	c.base().own(stream, func() error { return errors.Join(transport.Close(), pc.Close()) })
	return c, nil
}
