//go:build linux

// Package sock is the few Linux system calls that the RakNet datapath needs, without allocation and without the net package.
// Calls that cannot block go through RawSyscall; waiting goes through Syscall, so that the garbage collector can stop the world.
package sock

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Addr is a socket address as the kernel wants it.
type Addr struct {
	raw unix.RawSockaddrInet6 // or a RawSockaddrInet4 in its first bytes
	len uint32
}

// Key identifies an address in tables.
type Key struct {
	Hi, Lo uint64
	Port   uint32
	Scope  uint32
}

// FromAddrPort returns the kernel's form of a, for a socket of family unix.AF_INET or AF_INET6.
func FromAddrPort(a netip.AddrPort, family int) Addr {
	var out Addr
	if family == unix.AF_INET {
		in := (*unix.RawSockaddrInet4)(unsafe.Pointer(&out.raw))
		in.Family, in.Addr = unix.AF_INET, a.Addr().Unmap().As4()
		putPort(&in.Port, a.Port())
		out.len = unix.SizeofSockaddrInet4
		return out
	}
	out.raw.Family, out.raw.Addr = unix.AF_INET6, a.Addr().As16()
	putPort(&out.raw.Port, a.Port())
	out.len = unix.SizeofSockaddrInet6
	return out
}

func putPort(p *uint16, v uint16) { binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(p))[:], v) }

func port(p uint16) uint16 { return binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&p))[:]) }

// Key returns the table key of a.
func (a *Addr) Key() Key {
	if a.raw.Family == unix.AF_INET {
		in := (*unix.RawSockaddrInet4)(unsafe.Pointer(&a.raw))
		return Key{Lo: uint64(binary.LittleEndian.Uint32(in.Addr[:])), Port: uint32(port(in.Port))}
	}
	return Key{
		Hi: binary.LittleEndian.Uint64(a.raw.Addr[:8]), Lo: binary.LittleEndian.Uint64(a.raw.Addr[8:]),
		Port: uint32(port(a.raw.Port)), Scope: a.raw.Scope_id,
	}
}

// AddrPort returns a in the form of the standard library; IPv4 in IPv6 is unmapped.
func (a *Addr) AddrPort() netip.AddrPort {
	if a.raw.Family == unix.AF_INET {
		in := (*unix.RawSockaddrInet4)(unsafe.Pointer(&a.raw))
		return netip.AddrPortFrom(netip.AddrFrom4(in.Addr), port(in.Port))
	}
	return netip.AddrPortFrom(netip.AddrFrom16(a.raw.Addr).Unmap(), port(a.raw.Port))
}

// Family returns the family of a socket that can use a.
func Family(a netip.AddrPort) int {
	if a.Addr().Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}
