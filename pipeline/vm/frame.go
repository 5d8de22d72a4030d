package vm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Frames cross the serial port in both directions: one byte of kind, four bytes of length (little endian), the payload.
const (
	frameHeader = 5
	maxFrame    = 64 << 10 // bytes of payload
)

type frameKind byte

const (
	frameHello  frameKind = 'h' // guest: JSON of hello, first and once
	frameAlive  frameKind = 'a' // guest: nothing happened, but the kernel still schedules
	frameStdout frameKind = 'o' // guest: what the command wrote
	frameStderr frameKind = 'e'
	frameTar    frameKind = 't' // guest: a piece of the results archive
	frameExit   frameKind = 'x' // guest: JSON of exit, last and once
	frameStop   frameKind = 's' // host: interrupt the command
	frameBye    frameKind = 'b' // host: everything arrived, power off
)

var errFrame = errors.New("malformed frame")

// known tells a frame from noise on the port.
func (k frameKind) known() bool {
	switch k {
	case frameHello, frameAlive, frameStdout, frameStderr, frameTar, frameExit, frameStop, frameBye:
		return true
	}
	return false
}

func writeFrame(w io.Writer, k frameKind, payload []byte) error {
	if len(payload) > maxFrame {
		return fmt.Errorf("%w: %d bytes, at most %d", errFrame, len(payload), maxFrame)
	}
	b := make([]byte, frameHeader, frameHeader+len(payload))
	b[0] = byte(k)
	binary.LittleEndian.PutUint32(b[1:], uint32(len(payload)))
	_, err := w.Write(append(b, payload...))
	return err
}

// readFrame returns the next frame; the payload lies in buf, which holds maxFrame bytes, until the next call.
func readFrame(r io.Reader, buf []byte) (frameKind, []byte, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	k, n := frameKind(head[0]), binary.LittleEndian.Uint32(head[1:])
	if !k.known() || n > maxFrame {
		return 0, nil, fmt.Errorf("%w: kind %#02x with %d bytes", errFrame, byte(k), n)
	}
	if _, err := io.ReadFull(r, buf[:n]); err != nil {
		return 0, nil, fmt.Errorf("%w: cut short: %w", errFrame, err)
	}
	return k, buf[:n], nil
}

// frameWriter turns a stream into frames of one kind.
type frameWriter struct {
	w    io.Writer
	kind frameKind
}

func (f frameWriter) Write(p []byte) (int, error) {
	for done := 0; done < len(p); done += maxFrame {
		if err := writeFrame(f.w, f.kind, p[done:min(done+maxFrame, len(p))]); err != nil {
			return done, err
		}
	}
	return len(p), nil
}
