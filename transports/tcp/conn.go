package tcp

import (
	"fmt"
	"io"
	"net"
	"sync"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// conn frames messages as published: one write per record, one read for the length and one for the body, nothing buffered.
type conn struct {
	tcp      stream
	wait     waiting
	out      *outPool
	head     [headerLen]byte // receiver only
	segments int64           // sent in the connection's life, known when it is closed; -1 before
}

// newConn takes ownership of c, which has TCP_NODELAY already: it is Go's default, set again to say so.
func newConn(c *net.TCPConn, cfg wire.Config, out *outPool) (echo.Conn, error) {
	if err := c.SetNoDelay(true); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("tcp_nodelay: %w", err)
	}
	s, wait, err := newWaiting(c, cfg)
	if err != nil {
		return nil, err
	}
	base := conn{tcp: s, wait: wait, out: out, segments: -1}
	if cfg.API == wire.APIBatch {
		room := make([]byte, batchSize*(headerLen+cfg.Payload))
		return &batchConn{conn: base, in: records{most: cfg.Payload, buf: room}}, nil
	}
	return &base, nil
}

// outPool lends the buffers in which records are put together, so that their number follows the running threads and not the
// connections.
type outPool struct{ pool sync.Pool }

func (p *outPool) get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

func (p *outPool) put(b *[]byte) { p.pool.Put(b) }

// Send writes one record with one call.
func (c *conn) Send(b []byte) error {
	out := c.out.get()
	*out = appendRecord((*out)[:0], b)
	_, err := c.tcp.Write(*out)
	c.out.put(out)
	return err
}

// Recv reads one record with two reads, unless the kernel has only part of it.
func (c *conn) Recv(b []byte) (int, error) {
	if err := c.wait.next(); err != nil {
		return 0, err
	}
	if err := readFull(c.tcp, c.head[:]); err != nil {
		return 0, err
	}
	n, err := recordLen(c.head[:], len(b))
	if err != nil {
		return 0, err
	}
	if err := readFull(c.tcp, b[:n]); err != nil {
		return 0, midRecord(err)
	}
	return n, nil
}

// midRecord keeps an orderly end inside a record from looking like one between records.
func midRecord(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Settings reads back what the kernel holds for this socket.
func (c *conn) Settings(s *wire.Settings) {
	_ = onSocket(c.tcp, func(fd int) error { return readSettings(fd, s) })
}

// Close notes how many segments were sent, then closes.
func (c *conn) Close() error {
	_ = onSocket(c.tcp, func(fd int) (err error) { c.segments, err = segmentsSent(fd); return err })
	return c.tcp.Close()
}

// Sent returns the TCP segments sent, acknowledgements included, once the connection is closed. System calls are not counted: the
// runtime's reads that find nothing are invisible here.
func (c *conn) Sent() (datagrams, syscalls int64) { return c.segments, -1 }
