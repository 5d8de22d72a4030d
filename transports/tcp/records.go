package tcp

import (
	"encoding/binary"
	"fmt"
	"io"

	"transportbench/transports/echo"
)

// headerLen is the length of the little-endian length in front of every record.
const headerLen = 4

// appendRecord appends b as one record.
func appendRecord(dst, b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// recordLen reads a header and refuses a body of more than room bytes before anything is read or allocated for it.
func recordLen(head []byte, room int) (int, error) {
	n := binary.LittleEndian.Uint32(head)
	if uint64(n) > uint64(room) {
		return 0, fmt.Errorf("record of %d bytes where at most %d fit: %w", n, room, echo.ErrTooLong)
	}
	return int(n), nil
}

// records splits a byte stream, read in large pieces, into records.
type records struct {
	most int    // longest body, in bytes
	buf  []byte // at least one record of that length
	r, w int    // buf[r:w] is received but not yet handed out
}

// ready says whether next has something to report: a whole record, or one that is too long.
func (s *records) ready() bool {
	have := s.buf[s.r:s.w]
	if len(have) < headerLen {
		return false
	}
	n, err := recordLen(have, s.most)
	return err != nil || len(have) >= headerLen+n
}

// next copies the next whole record into b; ok is false when more bytes are needed. A record that does not fit stays where it is.
func (s *records) next(b []byte) (n int, ok bool, err error) {
	have := s.buf[s.r:s.w]
	if len(have) < headerLen {
		return 0, false, nil
	}
	n, err = recordLen(have, min(len(b), s.most))
	if err != nil || len(have) < headerLen+n {
		return 0, false, err
	}
	copy(b, have[headerLen:headerLen+n])
	s.r += headerLen + n
	return n, true, nil
}

// fill reads once into the free end of the buffer, after moving an unfinished record to its front. There is always room: next has
// handed out every whole record, and one record fits.
func (s *records) fill(from io.Reader) error {
	s.w = copy(s.buf, s.buf[s.r:s.w])
	s.r = 0
	n, err := from.Read(s.buf[s.w:])
	s.w += n
	if n > 0 || err == nil {
		return nil
	}
	if err == io.EOF && s.w > 0 {
		return fmt.Errorf("%d bytes of an unfinished record: %w", s.w, io.ErrUnexpectedEOF)
	}
	return err
}
