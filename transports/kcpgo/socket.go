package kcpgo

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"transportbench/transports/wire"
)

// firstSourcePort is below Linux's ephemeral ports (32,768) and above the published server port (19,342), so that neither
// takes a port of the scheme.
const firstSourcePort = 20_000

// socket is a UDP socket and the buffers asked for.
type socket struct {
	*net.UDPConn
	rcvRequested, sndRequested int
}

// sourcePort is the fixed port of connection index; it steps over the server's.
func sourcePort(first, server, index int) int {
	port := first + index
	if server >= first && port >= server {
		port++
	}
	return port
}

// openSocket binds addr and sets the buffers. With reuse several sockets may share the port.
func openSocket(ctx context.Context, addr netip.AddrPort, reuse bool, cfg wire.Config) (*socket, error) {
	var lc net.ListenConfig
	if reuse {
		lc.Control = reusePort
	}
	network := "udp6"
	if addr.Addr().Unmap().Is4() {
		network = "udp4"
	}
	pc, err := lc.ListenPacket(ctx, network, addr.String())
	if err != nil {
		return nil, fmt.Errorf("udp socket on %s: %w", addr, err)
	}
	s := &socket{UDPConn: pc.(*net.UDPConn), rcvRequested: wantedBuffer, sndRequested: wantedBuffer}
	if cfg.RcvBuf > 0 {
		s.rcvRequested = cfg.RcvBuf
	}
	if cfg.SndBuf > 0 {
		s.sndRequested = cfg.SndBuf
	}
	if err := s.setBuffers(); err != nil {
		s.Close()
		return nil, fmt.Errorf("udp socket on %s: %w", addr, err)
	}
	return s, nil
}

func (s *socket) setBuffers() error {
	if err := s.SetReadBuffer(s.rcvRequested); err != nil {
		return fmt.Errorf("receive buffer of %d B: %w", s.rcvRequested, err)
	}
	if err := s.SetWriteBuffer(s.sndRequested); err != nil {
		return fmt.Errorf("send buffer of %d B: %w", s.sndRequested, err)
	}
	return nil
}

func reusePort(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	if err != nil {
		return err
	}
	return failed
}

// settings reports what was asked for and what the kernel says it gave; Linux doubles the figure for its own overhead.
func (s *socket) settings(out *wire.Settings) {
	out.RcvBufRequested, out.SndBufRequested = s.rcvRequested, s.sndRequested
	raw, err := s.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // on an error the fields keep 0: not granted as far as is known
		if v, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF); err == nil {
			out.RcvBufGranted = v
		}
		if v, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF); err == nil {
			out.SndBufGranted = v
		}
	})
}
