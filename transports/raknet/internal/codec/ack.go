package codec

import "encoding/binary"

// Headers of the datagrams that name other datagrams.
const (
	HeaderAck  = 0xc0
	HeaderNack = 0xa0
	ackHeader  = 3
	ackSingle  = 4
	ackRange   = 7
)

// Range is a run of datagram numbers, both ends included; it may wrap.
type Range struct{ First, Last uint32 }

// Len is how many numbers r names.
func (r Range) Len() int { return int((r.Last-r.First)&Mask24) + 1 }

// AppendAck appends an ACK or NACK with as many of the ranges as fit into limit bytes, and returns those that did not.
func AppendAck(b []byte, header byte, ranges []Range, limit int) ([]byte, []Range) {
	start := len(b)
	b = append(b, header, 0, 0)
	n := 0
	for _, r := range ranges {
		size := ackRange
		if r.First == r.Last {
			size = ackSingle
		}
		if len(b)-start+size > limit {
			break
		}
		if size == ackSingle {
			b = append24(append(b, 1), r.First)
		} else {
			b = append24(append24(append(b, 0), r.First), r.Last)
		}
		n++
	}
	binary.BigEndian.PutUint16(b[start+1:], uint16(n))
	return b, ranges[n:]
}

// Acks walks over the records of an ACK or NACK that Validate has passed.
type Acks struct {
	rest []byte
	left int
}

// ParseAck checks every record of the datagram b: counts, types and that no range is reversed.
func ParseAck(b []byte) (Acks, error) {
	if len(b) < ackHeader {
		return Acks{}, ErrShort
	}
	all := Acks{rest: b[ackHeader:], left: int(binary.BigEndian.Uint16(b[1:]))}
	check := all
	for check.left > 0 {
		if _, err := check.next(); err != nil {
			return Acks{}, err
		}
	}
	return all, nil
}

// Next returns the next range; ok is false after the last.
func (a *Acks) Next() (r Range, ok bool) {
	if a.left == 0 {
		return Range{}, false
	}
	r, err := a.next()
	return r, err == nil
}

func (a *Acks) next() (Range, error) {
	if len(a.rest) < ackSingle {
		return Range{}, ErrShort
	}
	kind, first := a.rest[0], Uint24(a.rest[1:])
	a.left--
	switch kind {
	case 1:
		a.rest = a.rest[ackSingle:]
		return Range{first, first}, nil
	case 0:
		if len(a.rest) < ackRange {
			return Range{}, ErrShort
		}
		last := Uint24(a.rest[4:])
		a.rest = a.rest[ackRange:]
		if Less24(last, first) {
			return Range{}, ErrInvalid
		}
		return Range{first, last}, nil
	}
	return Range{}, ErrInvalid
}
