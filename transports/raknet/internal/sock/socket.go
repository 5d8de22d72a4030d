//go:build linux

package sock

import (
	"fmt"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Options of a socket; buffer sizes are requests in bytes, 0 leaves the kernel's default.
type Options struct {
	ReusePort      bool
	RcvBuf, SndBuf int
}

// Open returns a non-blocking UDP socket bound to local.
func Open(local netip.AddrPort, o Options) (fd int, err error) {
	family := Family(local)
	fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("udp socket: %w", err)
	}
	if err := setup(fd, local, family, o); err != nil {
		_ = unix.Close(fd) // the first error matters
		return -1, err
	}
	return fd, nil
}

func setup(fd int, local netip.AddrPort, family int, o Options) error {
	if o.ReusePort {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return fmt.Errorf("udp socket: SO_REUSEPORT: %w", err)
		}
	}
	if err := setBuffers(fd, o); err != nil {
		return err
	}
	a := FromAddrPort(local, family)
	if _, _, e := unix.RawSyscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), uintptr(a.len)); e != 0 {
		return fmt.Errorf("udp socket: bind %s: %w", local, e)
	}
	return nil
}

// setBuffers leaves it to the kernel how much of the request it grants; Buffers reads that back.
func setBuffers(fd int, o Options) error {
	for opt, size := range map[int]int{unix.SO_RCVBUF: o.RcvBuf, unix.SO_SNDBUF: o.SndBuf} {
		if size == 0 {
			continue
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, size); err != nil {
			return fmt.Errorf("udp socket: buffer of %d bytes: %w", size, err)
		}
	}
	return nil
}

// Connect fixes the peer: the kernel then drops datagrams of everyone else.
func Connect(fd int, peer netip.AddrPort) error {
	a := FromAddrPort(peer, Family(peer))
	if _, _, e := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), uintptr(a.len)); e != 0 {
		return fmt.Errorf("udp socket: connect %s: %w", peer, e)
	}
	return nil
}

// DontFragment says whether datagrams over the path MTU are refused (EMSGSIZE) instead of fragmented.
func DontFragment(fd int, on, v6 bool) error {
	level, opt, mode := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_WANT
	if v6 {
		level, opt = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER
	}
	if on {
		mode = unix.IP_PMTUDISC_DO
	}
	if err := unix.SetsockoptInt(fd, level, opt, mode); err != nil {
		return fmt.Errorf("udp socket: path MTU discovery: %w", err)
	}
	return nil
}

// Local returns the bound address.
func Local(fd int) (netip.AddrPort, error) {
	var a Addr
	a.len = unix.SizeofSockaddrInet6
	if _, _, e := unix.RawSyscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), uintptr(unsafe.Pointer(&a.len))); e != 0 {
		return netip.AddrPort{}, fmt.Errorf("udp socket: local address: %w", e)
	}
	return a.AddrPort(), nil
}

// Buffers returns the granted receive and send buffer in bytes, as the kernel counts them.
func Buffers(fd int) (rcv, snd int) {
	rcv, _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF) // 0 then says unknown
	snd, _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	return rcv, snd
}

// Close closes fd.
func Close(fd int) { _ = unix.Close(fd) }

// Monotonic returns a clock: ns since base.
func Monotonic(base time.Time) func() int64 {
	return func() int64 { return int64(time.Since(base)) }
}
