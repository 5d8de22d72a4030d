package quic

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"transportbench/transports/wire"
)

// wantedBuffer is what quic-go asks for in both directions, in bytes (protocol.DesiredReceiveBufferSize, 7 MiB).
const wantedBuffer = 7 << 20

// firstSourcePort is below Linux's ephemeral ports (32,768) and above the published server port (19,342), so that neither
// takes a port of the scheme.
const firstSourcePort = 20_000

// gsoSwitch is quic-go's own switch; it is read when a socket is handed over. It has no other, and a driver has no
// environment of its own, so nothing is overridden by setting it.
const gsoSwitch = "QUIC_GO_DISABLE_GSO"

// socket is a UDP socket that counts what quic-go sends. quic-go recognises the embedded methods and treats it as it treats
// a *net.UDPConn: recvmmsg, UDP_SEGMENT and ECN included.
type socket struct {
	*net.UDPConn
	rcvRequested, sndRequested int
	gso                        bool
	datagrams, segmented       atomic.Int64 // segmented: calls that carried UDP_SEGMENT
	syscalls                   atomic.Int64
}

// sourcePort is the fixed port of connection index; it steps over the server's.
func sourcePort(first, server, index int) int {
	port := first + index
	if server >= first && port >= server {
		port++
	}
	return port
}

// openSocket binds addr. With reuse several sockets may share the port.
func openSocket(ctx context.Context, addr netip.AddrPort, reuse bool, cfg wire.Config) (*socket, error) {
	if err := os.Setenv(gsoSwitch, strconv.FormatBool(!cfg.GSO)); err != nil {
		return nil, fmt.Errorf("gso switch: %w", err)
	}
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
	_, err = s.option(unix.IPPROTO_UDP, unix.UDP_SEGMENT)
	s.gso = cfg.GSO && err == nil
	return s, nil
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

// settle sets the buffers once quic-go has set its own: without the FORCE variant the kernel applies its limit again.
func (s *socket) settle() error {
	if err := s.SetReadBuffer(s.rcvRequested); err != nil {
		return fmt.Errorf("receive buffer of %d B: %w", s.rcvRequested, err)
	}
	if err := s.SetWriteBuffer(s.sndRequested); err != nil {
		return fmt.Errorf("send buffer of %d B: %w", s.sndRequested, err)
	}
	return nil
}

func (s *socket) option(level, name int) (int, error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return 0, err
	}
	var value int
	var failed error
	if err := raw.Control(func(fd uintptr) { value, failed = unix.GetsockoptInt(int(fd), level, name) }); err != nil {
		return 0, err
	}
	return value, failed
}

// WriteMsgUDP sends one datagram, or with UDP_SEGMENT several, and counts what the kernel took.
func (s *socket) WriteMsgUDP(b, oob []byte, addr *net.UDPAddr) (n, oobn int, err error) {
	n, oobn, err = s.UDPConn.WriteMsgUDP(b, oob, addr)
	s.syscalls.Add(1)
	if err != nil {
		return n, oobn, err
	}
	if size := segmentSize(oob); size > 0 {
		s.segmented.Add(1)
		s.datagrams.Add(int64((len(b) + size - 1) / size))
	} else {
		s.datagrams.Add(1)
	}
	return n, oobn, nil
}

// segmentSize finds UDP_SEGMENT (see udp(7)) in control messages; 0: there is none.
func segmentSize(oob []byte) int {
	for len(oob) > 0 {
		head, body, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return 0
		}
		if head.Level == unix.IPPROTO_UDP && head.Type == unix.UDP_SEGMENT && len(body) >= 2 {
			return int(binary.NativeEndian.Uint16(body))
		}
		oob = rest
	}
	return 0
}

// settings reports what was asked for and what the kernel says it gave; Linux doubles the figure for its own overhead.
func (s *socket) settings(out *wire.Settings) {
	out.RcvBufRequested, out.SndBufRequested, out.GSO = s.rcvRequested, s.sndRequested, s.gso
	if granted, err := s.option(unix.SOL_SOCKET, unix.SO_RCVBUF); err == nil {
		out.RcvBufGranted = granted
	}
	if granted, err := s.option(unix.SOL_SOCKET, unix.SO_SNDBUF); err == nil {
		out.SndBufGranted = granted
	}
}
