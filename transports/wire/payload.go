package wire

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// Fill is the marker in byte 0 of a payload and the value of every byte after the header.
const Fill = 0xFE

// BuildPayload fills b, at least MinPayload bytes, as message number msg of connection conn.
func BuildPayload(b []byte, conn, msg uint64) {
	b[0] = Fill
	binary.LittleEndian.PutUint64(b[1:9], conn)
	binary.LittleEndian.PutUint64(b[9:17], msg)
	rest := b[MinPayload:]
	for i := range rest {
		rest[i] = Fill
	}
}

// NumberPayload turns a payload made by BuildPayload into another message of the same connection; it is the cheap part.
func NumberPayload(b []byte, msg uint64) {
	binary.LittleEndian.PutUint64(b[9:17], msg)
}

// CheckPayload compares every byte of b with message number msg of connection conn and returns a *VerificationError that
// names the first difference. The expected length is known to the caller only and is checked there.
func CheckPayload(b []byte, conn, msg uint64) error {
	if len(b) >= MinPayload && b[0] == Fill &&
		binary.LittleEndian.Uint64(b[1:9]) == conn && binary.LittleEndian.Uint64(b[9:17]) == msg && filled(b[MinPayload:]) {
		return nil
	}
	return &VerificationError{Connection: conn, Message: msg, Reason: difference(b, conn, msg)}
}

// filled compares the tail with itself moved by one byte, so one bulk comparison needs no template of the right length.
func filled(tail []byte) bool {
	return len(tail) == 0 || tail[0] == Fill && bytes.Equal(tail[:len(tail)-1], tail[1:])
}

func difference(b []byte, conn, msg uint64) string {
	if len(b) < MinPayload {
		return "echo of " + strconv.Itoa(len(b)) + " bytes is too short"
	}
	if b[0] != Fill {
		return "marker byte is " + strconv.Itoa(int(b[0]))
	}
	if got := binary.LittleEndian.Uint64(b[1:9]); got != conn {
		return "echo belongs to connection " + strconv.FormatUint(got, 10)
	}
	if got := binary.LittleEndian.Uint64(b[9:17]); got != msg {
		return "echo carries message " + strconv.FormatUint(got, 10)
	}
	for i, v := range b[MinPayload:] {
		if v != Fill {
			return "byte " + strconv.Itoa(MinPayload+i) + " is " + strconv.Itoa(int(v))
		}
	}
	return "no difference" // unreachable: CheckPayload found one
}
