package kcpgo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	kcp "github.com/xtaci/kcp-go/v5"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// listener accepts the sessions of one socket.
type listener struct {
	accept *kcp.Listener
	pc     net.PacketConn
	shared shared
	keep   *keeper
}

// keeper closes a socket when the listener and the last accepted session have let go of it: as with TCP, closing a listener
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

// Listen opens cfg.Listeners sockets on one port, each with a listener of its own. Port 0 takes a free one for all.
func (t Transport) Listen(ctx context.Context, cfg wire.Config) ([]echo.Listener, error) {
	addr := cfg.Addr
	var open []echo.Listener
	for range max(1, cfg.Listeners) {
		l, err := t.listenOne(ctx, addr, cfg)
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

func (t Transport) listenOne(ctx context.Context, addr netip.AddrPort, cfg wire.Config) (*listener, error) {
	if _, err := mtuOf(cfg); err != nil {
		return nil, err
	}
	s, err := openSocket(ctx, addr, true, cfg)
	if err != nil {
		return nil, fmt.Errorf("kcp server: %w", err)
	}
	l, err := serve(s.UDPConn, shared{cfg: cfg, idle: t.idleTimeout(), socket: s})
	if err != nil {
		s.Close()
		return nil, err
	}
	return l, nil
}

func (t Transport) idleTimeout() time.Duration {
	if t.idle > 0 {
		return t.idle
	}
	return idleTimeout
}

// serve listens on any net.PacketConn and owns it when it returns without an error.
func serve(pc net.PacketConn, s shared) (*listener, error) {
	accept, err := kcp.ServeConn(nil, 0, 0, pc)
	if err != nil {
		return nil, fmt.Errorf("kcp server on %s: %w", pc.LocalAddr(), err)
	}
	keep := &keeper{release: pc.Close}
	keep.retain()
	return &listener{accept: accept, pc: pc, shared: s, keep: keep}, nil
}

// Accept waits for the first segment of a client not seen before.
func (l *listener) Accept(ctx context.Context) (echo.Conn, error) {
	// kcp-go knows no context: its end becomes a deadline in the past.
	stop := context.AfterFunc(ctx, func() { _ = l.accept.SetDeadline(time.Unix(1, 0)) }) // fails only once it is closed
	defer stop()
	session, err := l.accept.AcceptKCP()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("kcp server on %s: accept: %w", l.Addr(), err)
	}
	if err := tune(session, l.shared.cfg); err != nil {
		session.Close()
		return nil, fmt.Errorf("kcp server on %s: %w", l.Addr(), err)
	}
	l.keep.retain()
	c := newConn(session, l.shared, roleServer)
	c.release = l.keep.drop
	return c, nil
}

// Addr is the bound address.
func (l *listener) Addr() string { return l.pc.LocalAddr().String() }

// Close stops accepting. The socket is closed with the last accepted session.
func (l *listener) Close() error {
	return errors.Join(l.accept.Close(), l.keep.drop())
}
