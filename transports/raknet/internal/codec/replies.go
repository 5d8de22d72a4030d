package codec

import (
	"encoding/binary"
	"net/netip"
)

// Reply2 ends the offline part; MTU is final and may be lower than what was asked for.
type Reply2 struct {
	GUID   int64
	Client netip.AddrPort
	MTU    uint16
	Secure bool
}

// Append appends r to b.
func (r Reply2) Append(b []byte) []byte {
	b = append(append(b, IDReply2), Magic[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.GUID))
	b = AppendAddr(b, r.Client)
	b = binary.BigEndian.AppendUint16(b, r.MTU)
	return append(b, flag(r.Secure))
}

// Decode reads r from the whole datagram b.
func (r *Reply2) Decode(b []byte) error {
	if len(b) < 25 {
		return ErrShort
	}
	if [16]byte(b[1:17]) != Magic {
		return ErrMagic
	}
	addr, n, err := Addr(b[25:])
	if err != nil {
		return err
	}
	rest := b[25+n:]
	if len(rest) < 3 {
		return ErrShort
	}
	*r = Reply2{GUID: i64(b[17:]), Client: addr, MTU: binary.BigEndian.Uint16(rest), Secure: rest[2] != 0}
	return nil
}

// Refusal is a message that only names its reason: already connected, no free slots, banned or recently connected.
type Refusal struct {
	ID   byte
	GUID int64
}

// Append appends r to b.
func (r Refusal) Append(b []byte) []byte {
	b = append(append(b, r.ID), Magic[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(r.GUID))
}

// Decode reads r from the whole datagram b.
func (r *Refusal) Decode(b []byte) error {
	if len(b) < sizeRefusal {
		return ErrShort
	}
	if [16]byte(b[1:17]) != Magic {
		return ErrMagic
	}
	*r = Refusal{ID: b[0], GUID: i64(b[17:])}
	return nil
}

// Incompatible says which protocol the server speaks.
type Incompatible struct {
	Protocol byte
	GUID     int64
}

// Append appends r to b.
func (r Incompatible) Append(b []byte) []byte {
	b = append(b, IDIncompatible, r.Protocol)
	b = append(b, Magic[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(r.GUID))
}

// Decode reads r from the whole datagram b.
func (r *Incompatible) Decode(b []byte) error {
	if len(b) < sizeIncompat {
		return ErrShort
	}
	if [16]byte(b[2:18]) != Magic {
		return ErrMagic
	}
	*r = Incompatible{Protocol: b[1], GUID: i64(b[18:])}
	return nil
}
