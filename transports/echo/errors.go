package echo

import (
	"errors"
	"io"
	"syscall"
)

// ErrTooLong is what a Conn returns, wrapped, when the next message is longer than the buffer given for it.
var ErrTooLong = errors.New("message is longer than the payload agreed on")

// peerGone tells the ways in which a transport says that the other side has ended the connection.
func peerGone(err error) bool {
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}
