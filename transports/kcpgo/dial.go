package kcpgo

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	kcp "github.com/xtaci/kcp-go/v5"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// Dial opens the socket of connection index. Nothing is sent: KCP has no handshake, so a missing server shows in the first Recv.
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
		return nil, fmt.Errorf("kcp connection %d: %w", index, err)
	}
	c, err := dial(s.UDPConn, net.UDPAddrFromAddrPort(cfg.Addr), index, shared{cfg: cfg, idle: t.idleTimeout(), socket: s})
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("kcp connection %d: %w", index, err)
	}
	return c, nil
}

// dial makes a session over any net.PacketConn and owns it when it returns without an error.
func dial(pc net.PacketConn, server net.Addr, index int, s shared) (*conn, error) {
	session, err := kcp.NewConn4(uint32(firstConv+index), server, nil, 0, 0, true, pc)
	if err != nil {
		return nil, fmt.Errorf("session with %s: %w", server, err)
	}
	if err := tune(session, s.cfg); err != nil {
		session.Close()
		return nil, err
	}
	return newConn(session, s, roleClient), nil
}
