//go:build linux

package udp

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"transportbench/transports/wire"
)

// defaultBuffer is requested in both directions unless a flag names another size: 2 MiB, as the published UDP columns do.
const defaultBuffer = 2 << 20

const (
	// firstSourcePort is below Linux's ephemeral ports (32,768) and above the published server port (19,342).
	firstSourcePort = 20_000
	maxConnections  = 8192
)

// sourcePort is the fixed port of connection index, so that every run meets the same hashing; it steps over the server's.
func sourcePort(first, server uint16, index int) uint16 {
	port := first + uint16(index)
	if server >= first && port >= server {
		port++
	}
	return port
}

// buffers are socket buffer sizes in bytes. The kernel grants twice what it accepts and counts its own bookkeeping in it.
type buffers struct{ receive, send int }

func requested(cfg wire.Config) buffers {
	b := buffers{receive: cfg.RcvBuf, send: cfg.SndBuf}
	if b.receive == 0 {
		b.receive = defaultBuffer
	}
	if b.send == 0 {
		b.send = defaultBuffer
	}
	return b
}

func granted(fd int) (b buffers, err error) {
	if b.receive, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF); err != nil {
		return b, fmt.Errorf("receive buffer: %w", err)
	}
	if b.send, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF); err != nil {
		return b, fmt.Errorf("send buffer: %w", err)
	}
	return b, nil
}

// openSocket returns a bound UDP socket; the caller closes it.
func openSocket(at netip.AddrPort, want buffers, share bool) (int, error) {
	family := unix.AF_INET
	if !at.Addr().Unmap().Is4() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("udp socket: %w", err)
	}
	if err := prepare(fd, at, want, share); err != nil {
		_ = unix.Close(fd) // the first error is the one to tell
		return -1, fmt.Errorf("udp socket %s: %w", at, err)
	}
	return fd, nil
}

func prepare(fd int, at netip.AddrPort, want buffers, share bool) error {
	if share {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return fmt.Errorf("port cannot be shared: %w", err)
		}
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, want.receive); err != nil {
		return fmt.Errorf("receive buffer: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, want.send); err != nil {
		return fmt.Errorf("send buffer: %w", err)
	}
	if err := unix.Bind(fd, sockaddr(at)); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	return nil
}

// dial opens connection index, the first of which has the source port first, to a server. On loopback it comes from the server's own address, so runs on different addresses
// of 127.0.0.0/8 do not compete for the fixed ports. A receive without data returns after the time in which an echo is lost.
func dial(to netip.AddrPort, first uint16, index int, want buffers, lostNS int64) (int, error) {
	from := netip.IPv4Unspecified()
	if to.Addr().Is6() && !to.Addr().Is4In6() {
		from = netip.IPv6Unspecified()
	}
	if to.Addr().IsLoopback() {
		from = to.Addr()
	}
	fd, err := openSocket(netip.AddrPortFrom(from, sourcePort(first, to.Port(), index)), want, false)
	if err != nil {
		return -1, fmt.Errorf("connection %d: %w", index, err)
	}
	lost := unix.NsecToTimeval(lostNS)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &lost); err != nil {
		_ = unix.Close(fd) // the first error is the one to tell
		return -1, fmt.Errorf("connection %d: receive timeout: %w", index, err)
	}
	if err := unix.Connect(fd, sockaddr(to)); err != nil {
		_ = unix.Close(fd) // the first error is the one to tell
		return -1, fmt.Errorf("connection %d to %s: %w", index, to, err)
	}
	return fd, nil
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Unmap().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().Unmap().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// localAddr is where a socket listens; a port of 0 has been chosen by then.
func localAddr(fd int) (netip.AddrPort, error) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("local address: %w", err)
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), nil
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)), nil
	}
	return netip.AddrPort{}, fmt.Errorf("local address: unexpected type %T", sa)
}

// peer is a socket address as the kernel writes it; what an address family does not use stays zero, so peers compare with ==.
type peer [unsafe.Sizeof(unix.RawSockaddrInet6{})]byte

// length is what the kernel wants as the length of the address.
func (p *peer) length() uint32 {
	if (*unix.RawSockaddr)(unsafe.Pointer(p)).Family == unix.AF_INET {
		return unix.SizeofSockaddrInet4
	}
	return unix.SizeofSockaddrInet6
}
