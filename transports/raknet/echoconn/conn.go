//go:build linux

package echoconn

import (
	"context"
	"errors"
	"fmt"
	"io"

	"transportbench/transports/echo"
	"transportbench/transports/raknet"
	"transportbench/transports/wire"
)

// conn is a raknet.Conn as the workload wants it.
type conn struct {
	c   *raknet.Conn
	gso bool
}

var (
	_ echo.BatchConn = (*conn)(nil)
	_ echo.Waiter    = (*conn)(nil)
	_ echo.Counted   = (*conn)(nil)
)

func newConn(c *raknet.Conn, cfg wire.Config) (echo.Conn, error) {
	if cfg.Policy == wire.PolicyDefault {
		p := raknet.DefaultSendPolicy()
		if err := c.SetSendPolicy(&p); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return &conn{c, cfg.GSO}, nil
}

// Send sends one message, reliable and ordered.
func (c *conn) Send(b []byte) error { return c.c.Send(context.Background(), b) }

// Recv receives one message.
func (c *conn) Recv(b []byte) (int, error) {
	n, err := c.c.Recv(context.Background(), b)
	return n, tooLong(err)
}

// SendBatch sends up to 16 messages in one call.
func (c *conn) SendBatch(msgs [][]byte) error { return c.c.SendBatch(context.Background(), msgs) }

// RecvBatch receives what is ready.
func (c *conn) RecvBatch(bufs [][]byte) (int, error) {
	n, err := c.c.RecvBatch(context.Background(), bufs)
	return n, tooLong(err)
}

// Wait waits until RecvBatch has something to return.
func (c *conn) Wait() error { return c.c.Wait(context.Background()) }

func tooLong(err error) error {
	if err == io.ErrShortBuffer {
		return fmt.Errorf("%w: %w", echo.ErrTooLong, err)
	}
	return err
}

// Settings reports what the socket was granted and what was negotiated.
func (c *conn) Settings(s *wire.Settings) {
	s.RcvBufGranted, s.SndBufGranted = c.c.Buffers()
	s.MTU = c.c.MTU()
	s.MinRTOUS = 50_000
	s.GSO = c.gso
}

// Sent returns datagrams and system calls. Connections of one process share shards, so system calls are not known for each.
func (c *conn) Sent() (datagrams, syscalls int64) {
	st := c.c.Stats()
	return int64(st.Datagrams + st.AcksSent + st.NacksSent), -1
}

// Close ends the connection.
func (c *conn) Close() error { return c.c.Close() }
