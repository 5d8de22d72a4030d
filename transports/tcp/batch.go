package tcp

import (
	"fmt"
	"io"

	"transportbench/transports/echo"
)

// batchSize is how many records one write carries at most.
const batchSize = 16

// batchConn adds the batch calls: one write for several records, and reads that take whatever the kernel has.
type batchConn struct {
	conn
	in   []byte // in[r:w] is received but not yet handed out
	r, w int
}

// SendBatch writes all messages as records with one call per batchSize of them.
func (c *batchConn) SendBatch(msgs [][]byte) error {
	for len(msgs) > 0 {
		n := min(len(msgs), batchSize)
		out := c.out[:0]
		for _, b := range msgs[:n] {
			out = appendRecord(out, b)
		}
		if _, err := c.tcp.Write(out); err != nil {
			return err
		}
		msgs = msgs[n:]
	}
	return nil
}

// Recv hands out the next record, reading only when none is buffered whole.
func (c *batchConn) Recv(b []byte) (int, error) {
	for {
		n, ok, err := c.buffered(b)
		if ok || err != nil {
			return n, err
		}
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
}

// RecvBatch blocks for the first record and adds those already in the buffer.
func (c *batchConn) RecvBatch(bufs [][]byte) (int, error) {
	if len(bufs) == 0 {
		return 0, nil
	}
	n, err := c.Recv(bufs[0])
	if err != nil {
		return 0, err
	}
	bufs[0] = bufs[0][:n]
	for i := 1; i < len(bufs); i++ {
		n, ok, err := c.buffered(bufs[i])
		if !ok || err != nil {
			return i, nil // a bad record is met again by the next call
		}
		bufs[i] = bufs[i][:n]
	}
	return len(bufs), nil
}

// buffered copies the next whole record into b.
func (c *batchConn) buffered(b []byte) (n int, ok bool, err error) {
	have := c.in[c.r:c.w]
	if len(have) < headerLen {
		return 0, false, nil
	}
	n, err = recordLen(have, min(len(b), len(c.in)-headerLen))
	if err != nil || len(have) < headerLen+n {
		return 0, false, err
	}
	copy(b, have[headerLen:headerLen+n])
	c.r += headerLen + n
	return n, true, nil
}

// fill reads once into the free end of the buffer, after moving an incomplete record to its front.
func (c *batchConn) fill() error {
	c.w = copy(c.in, c.in[c.r:c.w])
	c.r = 0
	n, err := c.tcp.Read(c.in[c.w:])
	c.w += n
	if n > 0 || err == nil {
		return nil
	}
	if err == io.EOF && c.w > 0 {
		return fmt.Errorf("%d bytes of an unfinished record: %w", c.w, io.ErrUnexpectedEOF)
	}
	return err
}

var _ echo.BatchConn = (*batchConn)(nil)
