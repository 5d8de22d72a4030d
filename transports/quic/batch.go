package quic

import (
	"bufio"
	"encoding/binary"

	"transportbench/transports/echo"
)

// maxBatch is the number of messages that one Write may carry: RakNet's rule, applied to everyone (design, extra columns).
const maxBatch = 16

// Bounds of a connection's read buffer in bytes.
const (
	minReadBuffer = 4 << 10
	maxReadBuffer = 64 << 10
)

// batchConn is a conn with buffered reads and several messages a call.
type batchConn struct {
	*conn
	in *bufio.Reader
}

var (
	_ echo.BatchConn = (*batchConn)(nil)
	_ echo.Waiter    = (*batchConn)(nil)
)

func newBatchConn(c *conn) *batchConn {
	size := min(max(maxBatch*(headerBytes+c.shared.cfg.Payload), minReadBuffer), maxReadBuffer)
	return &batchConn{conn: c, in: bufio.NewReaderSize(c, size)}
}

// Recv reads one message through the buffer.
func (c *batchConn) Recv(b []byte) (int, error) {
	n, err := readRecord(c.in, c.head[:], b)
	if err != nil {
		return 0, c.fail("receive", err)
	}
	return n, nil
}

// SendBatch sends up to 16 messages a Write, at once.
func (c *batchConn) SendBatch(msgs [][]byte) error {
	for len(msgs) > 0 {
		n := min(len(msgs), maxBatch)
		c.out = c.out[:0]
		for _, m := range msgs[:n] {
			c.out = appendRecord(c.out, m)
		}
		if err := c.write(); err != nil {
			return err
		}
		msgs = msgs[n:]
	}
	return nil
}

// RecvBatch waits for the first message; more are taken while they are complete in the buffer.
func (c *batchConn) RecvBatch(bufs [][]byte) (int, error) {
	for i := range bufs {
		if i > 0 && !c.complete() {
			return i, nil
		}
		n, err := c.Recv(bufs[i])
		if err != nil {
			return i, err
		}
		bufs[i] = bufs[i][:n]
	}
	return len(bufs), nil
}

// Wait blocks until a message is complete in the buffer, or until the buffer is full.
func (c *batchConn) Wait() error {
	head, err := c.in.Peek(headerBytes)
	if err == nil {
		record := headerBytes + uint64(binary.LittleEndian.Uint32(head))
		_, err = c.in.Peek(int(min(record, uint64(c.in.Size()))))
	}
	if err != nil {
		return c.fail("receive", ended(err, c.in.Buffered() > 0))
	}
	return nil
}

// complete reports whether the next message can be read without waiting.
func (c *batchConn) complete() bool {
	if c.in.Buffered() < headerBytes {
		return false
	}
	head, err := c.in.Peek(headerBytes)
	return err == nil && uint64(c.in.Buffered()) >= headerBytes+uint64(binary.LittleEndian.Uint32(head))
}
