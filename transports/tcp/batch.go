package tcp

import (
	"transportbench/transports/echo"
)

// batchSize is how many records one write carries at most.
const batchSize = 16

// batchConn adds the batch calls: one write for several records, and reads that take whatever the kernel has.
type batchConn struct {
	conn
	in records
}

var _ interface {
	echo.BatchConn
	echo.Waiter
} = (*batchConn)(nil)

// SendBatch writes all messages as records with one call per batchSize of them.
func (c *batchConn) SendBatch(msgs [][]byte) error {
	out := c.out.get()
	defer c.out.put(out)
	for len(msgs) > 0 {
		n := min(len(msgs), batchSize)
		*out = (*out)[:0]
		for _, b := range msgs[:n] {
			*out = appendRecord(*out, b)
		}
		if _, err := c.tcp.Write(*out); err != nil {
			return err
		}
		msgs = msgs[n:]
	}
	return nil
}

// Wait reads until a whole record is buffered, or one that will never fit.
func (c *batchConn) Wait() error {
	for !c.in.ready() {
		if err := c.in.fill(c.tcp); err != nil {
			return err
		}
	}
	return nil
}

// Recv hands out the next record, reading only when none is buffered whole.
func (c *batchConn) Recv(b []byte) (int, error) {
	if err := c.wait.next(); err != nil {
		return 0, err
	}
	if err := c.Wait(); err != nil {
		return 0, err
	}
	n, _, err := c.in.next(b)
	return n, err
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
		n, ok, err := c.in.next(bufs[i])
		if !ok || err != nil {
			return i, nil // a bad record is met again by the next call
		}
		bufs[i] = bufs[i][:n]
	}
	return len(bufs), nil
}
