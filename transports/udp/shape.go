//go:build linux

package udp

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"transportbench/transports/wire"
)

const (
	// defaultDatagram is the largest UDP payload in bytes unless -mtu says otherwise: under 1,500 B with room for any header.
	defaultDatagram = 1400
	// headSize is what precedes the share of a payload that does not fit one datagram: message u64, connection u32, fragment
	// u16, fragments u16, little endian. A payload that fits goes as it is, without a head.
	headSize = 16
	// maxFragments is bounded by the bits of entry.missing.
	maxFragments = 32
)

// shape says how payloads of one size travel as datagrams.
type shape struct {
	payload   int // bytes
	fragments int // datagrams a message; 1 means the bare payload
	share     int // payload bytes of every fragment but the last
	fill      []byte
}

// newShape splits payload into equal shares, so that all datagrams but the last have one size, as segmentation offload wants.
func newShape(payload, datagram int) (shape, error) {
	if datagram == 0 {
		datagram = defaultDatagram
	}
	s := shape{payload: payload, fragments: 1, share: payload}
	if payload > datagram {
		room := datagram - headSize
		if room < wire.MinPayload || payload > room*maxFragments {
			return shape{}, &wire.UnsupportedError{What: fmt.Sprintf("payload of %d bytes in datagrams of %d", payload, datagram)}
		}
		s.fragments = (payload + room - 1) / room
		s.share = (payload + s.fragments - 1) / s.fragments
	}
	s.fill = bytes.Repeat([]byte{wire.Fill}, s.share)
	return s, nil
}

// largest is the size in bytes of the largest datagram.
func (s shape) largest() int {
	if s.fragments == 1 {
		return s.payload
	}
	return headSize + s.share
}

// part is the slice of a payload that fragment i carries.
func (s shape) part(b []byte, i int) []byte { return b[i*s.share : min((i+1)*s.share, s.payload)] }

// head writes the head of fragment i of a message.
func (s shape) head(b []byte, conn, msg uint64, i int) {
	binary.LittleEndian.PutUint64(b, msg)
	binary.LittleEndian.PutUint32(b[8:], uint32(conn))
	binary.LittleEndian.PutUint16(b[12:], uint16(i))
	binary.LittleEndian.PutUint16(b[14:], uint16(s.fragments))
}

// check compares every byte of an echoed datagram with what connection conn can have sent and returns which message and
// fragment it is. Whether that message was ever sent is for the caller to say.
func (s shape) check(d []byte, conn uint64) (msg uint64, fragment int, err error) {
	if s.fragments == 1 {
		if len(d) != s.payload {
			return 0, 0, s.wrong(conn, 0, "echo of %d bytes, want %d", len(d), s.payload)
		}
		msg = binary.LittleEndian.Uint64(d[9:])
		return msg, 0, wire.CheckPayload(d, conn, msg)
	}
	if len(d) < headSize {
		return 0, 0, s.wrong(conn, 0, "fragment of %d bytes has no head", len(d))
	}
	msg, fragment = binary.LittleEndian.Uint64(d), int(binary.LittleEndian.Uint16(d[12:]))
	if got := binary.LittleEndian.Uint32(d[8:]); got != uint32(conn) {
		return 0, 0, s.wrong(conn, msg, "fragment belongs to connection %d", got)
	}
	if n := int(binary.LittleEndian.Uint16(d[14:])); n != s.fragments || fragment >= n {
		return 0, 0, s.wrong(conn, msg, "fragment %d of %d, want one of %d", fragment, n, s.fragments)
	}
	return msg, fragment, s.checkShare(d[headSize:], conn, msg, fragment)
}

func (s shape) checkShare(b []byte, conn, msg uint64, fragment int) error {
	want := min(s.share, s.payload-fragment*s.share)
	if len(b) != want {
		return s.wrong(conn, msg, "fragment %d carries %d bytes, want %d", fragment, len(b), want)
	}
	if fragment == 0 {
		return wire.CheckPayload(b, conn, msg)
	}
	if !bytes.Equal(b, s.fill[:want]) {
		return s.wrong(conn, msg, "fragment %d has a wrong byte", fragment)
	}
	return nil
}

func (s shape) wrong(conn, msg uint64, format string, args ...any) error {
	return &wire.VerificationError{Connection: conn, Message: msg, Reason: fmt.Sprintf(format, args...)}
}
