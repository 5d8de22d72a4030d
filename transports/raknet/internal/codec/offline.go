package codec

import (
	"encoding/binary"
	"net/netip"
)

// Identifiers of offline messages: whole datagrams outside of a connection.
const (
	IDUnconnectedPing     = 0x01
	IDUnconnectedPingOpen = 0x02 // to be answered only while slots are free
	IDRequest1            = 0x05
	IDReply1              = 0x06
	IDRequest2            = 0x07
	IDReply2              = 0x08
	IDAlreadyConnected    = 0x12
	IDNoFreeSlots         = 0x14
	IDBanned              = 0x17
	IDIncompatible        = 0x19
	IDRecentlyConnected   = 0x1a
	IDUnconnectedPong     = 0x1c
)

// Sizes in bytes.
const (
	UDPOverhead  = 28 // IPv4 and UDP headers, which every MTU on the wire includes
	MinRequest1  = 18
	sizePing     = 33
	sizePong     = 35
	sizeReply1   = 28
	sizeRefusal  = 25
	sizeIncompat = 26
)

// Ping is an unconnected ping.
type Ping struct {
	OpenOnly bool
	Time     int64
	GUID     int64
}

// Append appends p to b.
func (p Ping) Append(b []byte) []byte {
	id := byte(IDUnconnectedPing)
	if p.OpenOnly {
		id = IDUnconnectedPingOpen
	}
	b = binary.BigEndian.AppendUint64(append(b, id), uint64(p.Time))
	b = append(b, Magic[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(p.GUID))
}

// Decode reads p from the whole datagram b.
func (p *Ping) Decode(b []byte) error {
	if len(b) < sizePing {
		return ErrShort
	}
	if [16]byte(b[9:25]) != Magic {
		return ErrMagic
	}
	*p = Ping{OpenOnly: b[0] == IDUnconnectedPingOpen, Time: i64(b[1:]), GUID: i64(b[25:])}
	return nil
}

// Pong answers a Ping. Data is the server's advertisement; after Decode it aliases the datagram.
type Pong struct {
	Time int64
	GUID int64
	Data []byte
}

// Append appends p to b; Data beyond 65,535 bytes is cut.
func (p Pong) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, IDUnconnectedPong), uint64(p.Time))
	b = binary.BigEndian.AppendUint64(b, uint64(p.GUID))
	b = append(b, Magic[:]...)
	data := p.Data[:min(len(p.Data), maxString)]
	b = binary.BigEndian.AppendUint16(b, uint16(len(data)))
	return append(b, data...)
}

// Decode reads p from the whole datagram b. Some servers send no text at all.
func (p *Pong) Decode(b []byte) error {
	if len(b) < sizePong-2 {
		return ErrShort
	}
	if [16]byte(b[17:33]) != Magic {
		return ErrMagic
	}
	*p = Pong{Time: i64(b[1:]), GUID: i64(b[9:])}
	if len(b) == sizePong-2 {
		return nil
	}
	if len(b) < sizePong || len(b) < sizePong+int(binary.BigEndian.Uint16(b[33:])) {
		return ErrShort
	}
	p.Data = b[sizePong : sizePong+int(binary.BigEndian.Uint16(b[33:]))]
	return nil
}

// Request1 opens a handshake. Size is the UDP payload in bytes, from which the server learns the MTU.
type Request1 struct {
	Protocol byte
	Size     int
}

// Append appends r to b, zero-padded to r.Size.
func (r Request1) Append(b []byte) []byte {
	start := len(b)
	b = append(append(b, IDRequest1), Magic[:]...)
	b = append(b, r.Protocol)
	for len(b)-start < r.Size {
		b = append(b, 0)
	}
	return b
}

// Decode reads r from the whole datagram b.
func (r *Request1) Decode(b []byte) error {
	if len(b) < MinRequest1 {
		return ErrShort
	}
	if [16]byte(b[1:17]) != Magic {
		return ErrMagic
	}
	*r = Request1{Protocol: b[17], Size: len(b)}
	return nil
}

// Reply1 answers a Request1.
type Reply1 struct {
	GUID      int64
	HasCookie bool
	Cookie    uint32
	MTU       uint16
}

// Append appends r to b.
func (r Reply1) Append(b []byte) []byte {
	b = append(append(b, IDReply1), Magic[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.GUID))
	if r.HasCookie {
		b = binary.BigEndian.AppendUint32(append(b, 1), r.Cookie)
	} else {
		b = append(b, 0)
	}
	return binary.BigEndian.AppendUint16(b, r.MTU)
}

// Decode reads r from the whole datagram b.
func (r *Reply1) Decode(b []byte) error {
	if len(b) < sizeReply1 {
		return ErrShort
	}
	if [16]byte(b[1:17]) != Magic {
		return ErrMagic
	}
	*r = Reply1{GUID: i64(b[17:]), HasCookie: b[25] != 0}
	rest := b[26:]
	if r.HasCookie {
		if len(rest) < 6 {
			return ErrShort
		}
		r.Cookie = binary.BigEndian.Uint32(rest)
		rest = rest[4:]
	}
	r.MTU = binary.BigEndian.Uint16(rest)
	return nil
}

// Request2 asks for the connection itself.
type Request2 struct {
	HasCookie bool
	Cookie    uint32
	Secure    bool // the client offers encryption; always false here
	Server    netip.AddrPort
	MTU       uint16
	GUID      int64
}

// Append appends r to b.
func (r Request2) Append(b []byte) []byte {
	b = append(append(b, IDRequest2), Magic[:]...)
	if r.HasCookie {
		b = binary.BigEndian.AppendUint32(b, r.Cookie)
		b = append(b, flag(r.Secure))
	}
	b = AppendAddr(b, r.Server)
	b = binary.BigEndian.AppendUint16(b, r.MTU)
	return binary.BigEndian.AppendUint64(b, uint64(r.GUID))
}

// Decode reads r from the whole datagram b. The layout cannot be told from the bytes: cookie says which one the server announced.
func (r *Request2) Decode(b []byte, cookie bool) error {
	if len(b) < 17 {
		return ErrShort
	}
	if [16]byte(b[1:17]) != Magic {
		return ErrMagic
	}
	*r = Request2{HasCookie: cookie}
	rest := b[17:]
	if cookie {
		if len(rest) < 5 {
			return ErrShort
		}
		r.Cookie, r.Secure = binary.BigEndian.Uint32(rest), rest[4] != 0
		rest = rest[5:]
	}
	addr, n, err := Addr(rest)
	if err != nil {
		return err
	}
	if rest = rest[n:]; len(rest) != 10 { // exactly, so that neither layout passes for the other
		return ErrShort
	}
	r.Server, r.MTU, r.GUID = addr, binary.BigEndian.Uint16(rest), i64(rest[2:])
	return nil
}

func i64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

func flag(v bool) byte {
	if v {
		return 1
	}
	return 0
}
