// Package nfqueue holds, releases and drops the packets that a netfilter rule hands to user space.
package nfqueue

import (
	"encoding/binary"
	"errors"
)

// Message types, attributes and verdicts of include/uapi/linux/netfilter/nfnetlink_queue.h and nfnetlink.h.
const (
	subsystem       = 3 // NFNL_SUBSYS_QUEUE
	msgPacket       = subsystem << 8
	msgVerdict      = subsystem<<8 | 1
	msgConfig       = subsystem<<8 | 2
	msgVerdictBatch = subsystem<<8 | 3
	attrPacketHdr   = 1
	attrVerdictHdr  = 2
	attrPayload     = 10
	verdictDrop     = 0
	verdictAccept   = 1
	nlmsgError      = 2
)

const (
	nlHeader  = 16 // struct nlmsghdr
	genHeader = 4  // struct nfgenmsg
	attrHead  = 4  // struct nlattr
)

var errShort = errors.New("queue message is shorter than it says")

// packet is one queued packet as the kernel announces it. payload aliases the receive buffer.
type packet struct {
	queue   uint16
	id      uint32
	payload []byte
}

// parsePacket reads one NFQNL_MSG_PACKET without its netlink header.
func parsePacket(b []byte) (packet, error) {
	if len(b) < genHeader {
		return packet{}, errShort
	}
	p := packet{queue: binary.BigEndian.Uint16(b[2:])}
	seen := false
	for b = b[genHeader:]; len(b) >= attrHead; {
		size := int(binary.NativeEndian.Uint16(b))
		kind := binary.NativeEndian.Uint16(b[2:]) & 0x3fff // without the nested and byte order bits
		if size < attrHead || size > len(b) {
			return packet{}, errShort
		}
		value := b[attrHead:size]
		switch {
		case kind == attrPacketHdr && len(value) >= 4:
			p.id, seen = binary.BigEndian.Uint32(value), true
		case kind == attrPayload:
			p.payload = value
		}
		b = b[min(align(size), len(b)):]
	}
	if !seen {
		return packet{}, errors.New("queue message has no packet id")
	}
	return p, nil
}

// align rounds up to the four bytes of netlink.
func align(n int) int { return (n + 3) &^ 3 }

// Ports returns the source and destination port of an IPv4 or IPv6 packet that carries TCP or UDP; ok is false for
// anything else, a later fragment included.
func Ports(ip []byte) (src, dst uint16, ok bool) {
	const tcp, udp = 6, 17
	if len(ip) < 20 {
		return 0, 0, false
	}
	head, protocol := int(ip[0]&0x0f)*4, ip[9]
	fragment := binary.BigEndian.Uint16(ip[6:]) & 0x1fff
	if ip[0]>>4 == 6 {
		head, protocol, fragment = 40, ip[6], 0
	}
	if head < 20 || len(ip) < head+4 || fragment != 0 || (protocol != tcp && protocol != udp) {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(ip[head:]), binary.BigEndian.Uint16(ip[head+2:]), true
}

// Length returns the bytes of an IPv4 or IPv6 packet as its header says; 0 when the header is cut.
func Length(ip []byte) int {
	switch {
	case len(ip) >= 20 && ip[0]>>4 == 4:
		return int(binary.BigEndian.Uint16(ip[2:]))
	case len(ip) >= 40 && ip[0]>>4 == 6:
		return 40 + int(binary.BigEndian.Uint16(ip[4:]))
	}
	return 0
}

// appendVerdict appends one verdict message: for one id, or with msgVerdictBatch for every packet up to it.
func appendVerdict(b []byte, kind, queue uint16, verdict, id uint32) []byte {
	const size = nlHeader + genHeader + attrHead + 8
	const request = 1 // NLM_F_REQUEST
	b = binary.NativeEndian.AppendUint32(b, size)
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, request)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0) // sequence and port: the kernel fills in what it needs
	b = append(b, 0, 0)                   // family, version
	b = binary.BigEndian.AppendUint16(b, queue)
	b = binary.NativeEndian.AppendUint16(b, attrHead+8)
	b = binary.NativeEndian.AppendUint16(b, attrVerdictHdr)
	b = binary.BigEndian.AppendUint32(b, verdict)
	return binary.BigEndian.AppendUint32(b, id)
}
