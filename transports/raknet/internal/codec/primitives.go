// Package codec reads and writes RakNet datagrams, protocol 10 and 11, without allocating and without keeping state.
package codec

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// Errors of the decoders. They are plain values, so a flood of bad datagrams allocates nothing.
var (
	ErrShort   = errors.New("datagram ends early")
	ErrInvalid = errors.New("datagram field is out of its range")
	ErrMagic   = errors.New("datagram lacks the offline magic")
)

// Magic marks every offline message.
var Magic = [16]byte{0x00, 0xff, 0xff, 0x00, 0xfe, 0xfe, 0xfe, 0xfe, 0xfd, 0xfd, 0xfd, 0xfd, 0x12, 0x34, 0x56, 0x78}

// Mask24 is the largest 24-bit counter; all sequence numbers and indexes wrap after it.
const Mask24 = 1<<24 - 1

// Uint24 reads three little endian bytes.
func Uint24(b []byte) uint32 {
	_ = b[2]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
}

// PutUint24 writes the low 24 bits of v as three little endian bytes.
func PutUint24(b []byte, v uint32) {
	_ = b[2]
	b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16)
}

// Diff24 is the signed distance from b to a modulo 2^24, in [-2^23, 2^23).
func Diff24(a, b uint32) int32 {
	return int32((a-b)<<8) >> 8
}

// Less24 says whether a is older than b. Numbers half the range apart are not ordered.
func Less24(a, b uint32) bool {
	d := (b - a) & Mask24
	return d != 0 && d < 1<<23
}

const (
	addrV4    = 4
	addrV6    = 6
	sizeV4    = 7
	sizeV6    = 29
	familyV6  = 23 // AF_INET6 of Windows, where the format comes from; readers accept any value
	legacyV4  = 0  // some peers announce IPv4 as version 0
	maxString = 1<<16 - 1
)

// AddrSize is the encoded size of a in bytes.
func AddrSize(a netip.AddrPort) int {
	if a.Addr().Unmap().Is6() {
		return sizeV6
	}
	return sizeV4
}

// AppendAddr appends a: seven bytes for IPv4 (and for an invalid address, as 0.0.0.0), 29 for IPv6.
func AppendAddr(b []byte, a netip.AddrPort) []byte {
	ip := a.Addr().Unmap()
	if ip.Is6() {
		b = append(b, addrV6)
		b = binary.LittleEndian.AppendUint16(b, familyV6)
		b = binary.BigEndian.AppendUint16(b, a.Port())
		b = append(b, 0, 0, 0, 0)
		raw := ip.As16()
		b = append(b, raw[:]...)
		return append(b, 0, 0, 0, 0)
	}
	var raw [4]byte
	if ip.Is4() {
		raw = ip.As4()
	}
	b = append(b, addrV4, ^raw[0], ^raw[1], ^raw[2], ^raw[3])
	return binary.BigEndian.AppendUint16(b, a.Port())
}

// Addr reads an address and returns how many bytes it took.
func Addr(b []byte) (netip.AddrPort, int, error) {
	if len(b) == 0 {
		return netip.AddrPort{}, 0, ErrShort
	}
	switch b[0] {
	case addrV4, legacyV4:
		if len(b) < sizeV4 {
			return netip.AddrPort{}, 0, ErrShort
		}
		ip := netip.AddrFrom4([4]byte{^b[1], ^b[2], ^b[3], ^b[4]})
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[5:])), sizeV4, nil
	case addrV6:
		if len(b) < sizeV6 {
			return netip.AddrPort{}, 0, ErrShort
		}
		ip := netip.AddrFrom16([16]byte(b[9:25])).Unmap()
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[3:])), sizeV6, nil
	}
	return netip.AddrPort{}, 0, ErrInvalid
}
