package main

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// datagrams is a transport without any repair that claims to be reliable. It shows that a clean path proves nothing.
type datagrams struct{ crash bool }

func (datagrams) Describe() wire.Describe {
	return wire.Describe{
		Transport: "datagrams", TransportVersion: "1", APIs: []string{wire.APISend}, Features: []string{}, Reliable: true, Encryption: "none",
		Limits: wire.Limits{MaxPayload: 8192, MaxConnections: 64},
	}
}

func (datagrams) Dial(_ context.Context, cfg wire.Config, _ int) (echo.Conn, error) {
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(cfg.Addr))
	if err != nil {
		return nil, err
	}
	return dialed{c}, nil
}

// dialed is the client's end.
type dialed struct{ *net.UDPConn }

func (d dialed) Send(b []byte) error        { _, err := d.Write(b); return err }
func (d dialed) Recv(b []byte) (int, error) { return d.Read(b) }
func (dialed) Settings(s *wire.Settings)    { s.RcvBufGranted, s.SndBufGranted = 1, 1 }

func (t datagrams) Listen(_ context.Context, cfg wire.Config) ([]echo.Listener, error) {
	u, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(cfg.Addr))
	if err != nil {
		return nil, err
	}
	l := &listener{udp: u, crash: t.crash, peers: map[netip.AddrPort]*accepted{}, fresh: make(chan *accepted, 64)}
	go l.read() // ends when the socket is closed
	return []echo.Listener{l}, nil
}

type listener struct {
	udp   *net.UDPConn
	crash bool
	peers map[netip.AddrPort]*accepted
	fresh chan *accepted
}

func (l *listener) read() {
	defer close(l.fresh)
	buf := make([]byte, 65536)
	for {
		n, from, err := l.udp.ReadFromUDPAddrPort(buf)
		if err != nil {
			for _, p := range l.peers {
				_ = p.Close()
			}
			return
		}
		if l.crash && buf[0] != wire.Fill {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
		}
		p, ok := l.peers[from]
		if !ok {
			p = &accepted{l: l, to: from, in: make(chan []byte, 1024), end: make(chan struct{})}
			l.peers[from] = p
			l.fresh <- p
		}
		select {
		case p.in <- append([]byte(nil), buf[:n]...):
		default:
		}
	}
}

func (l *listener) Accept(ctx context.Context) (echo.Conn, error) {
	select {
	case p, ok := <-l.fresh:
		if ok {
			return p, nil
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Addr() string { return l.udp.LocalAddr().String() }
func (l *listener) Close() error { return l.udp.Close() }

// accepted is the server's end of one client address.
type accepted struct {
	l    *listener
	to   netip.AddrPort
	in   chan []byte
	once sync.Once
	end  chan struct{}
}

func (a *accepted) Send(b []byte) error {
	_, err := a.l.udp.WriteToUDPAddrPort(b, a.to)
	return err
}

func (a *accepted) Recv(b []byte) (int, error) {
	select {
	case m := <-a.in:
		return copy(b, m), nil
	case <-a.end:
		return 0, io.EOF
	}
}

func (*accepted) Settings(s *wire.Settings) { s.RcvBufGranted, s.SndBufGranted = 1, 1 }

func (a *accepted) Close() error {
	a.once.Do(func() { close(a.end) })
	return nil
}
