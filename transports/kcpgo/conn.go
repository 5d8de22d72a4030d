package kcpgo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	kcp "github.com/xtaci/kcp-go/v5"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// headerBytes is the length of the length.
const headerBytes = 4

type role bool

const (
	roleClient role = false
	roleServer role = true
)

// shared is what the connections of one socket or one process have in common.
type shared struct {
	cfg    wire.Config
	idle   time.Duration
	socket *socket // nil when the session does not run over a UDP socket
}

// conn is one session.
type conn struct {
	session *kcp.UDPSession
	shared  shared
	role    role
	release func() error // of a server's socket; nil on the client, whose session owns its own

	out  []byte // the record being sent; belongs to the sending goroutine
	head [headerBytes]byte

	progress           atomic.Int64 // reads and writes completed
	seenRecv, seenSend int64        // progress when the read and the write deadline were set; each belongs to its goroutine
}

var _ echo.Conn = (*conn)(nil)

func newConn(session *kcp.UDPSession, s shared, r role) *conn {
	c := &conn{session: session, shared: s, role: r}
	_ = session.SetDeadline(time.Now().Add(s.idle))
	return c
}

// Send hands over one record in one Write, which waits while the send window is full.
func (c *conn) Send(b []byte) error {
	c.out = binary.LittleEndian.AppendUint32(c.out[:0], uint32(len(b)))
	c.out = append(c.out, b...)
	for {
		_, err := c.session.Write(c.out) // all or nothing
		if err == nil {
			c.progress.Add(1)
			return nil
		}
		if !c.extend(err, &c.seenSend, c.session.SetWriteDeadline) {
			return c.fail("send", err)
		}
	}
}

// Read is the session's, with the idle timeout.
func (c *conn) Read(b []byte) (int, error) {
	for {
		n, err := c.session.Read(b)
		if err == nil {
			c.progress.Add(1)
			return n, nil
		}
		if !c.extend(err, &c.seenRecv, c.session.SetReadDeadline) {
			return n, err
		}
	}
}

// extend gives a connection that moved since its deadline was set another period. So the hot path never looks at the clock,
// and a connection ends after one to two periods without progress.
func (c *conn) extend(err error, seen *int64, set func(time.Time) error) bool {
	now := c.progress.Load()
	if !isTimeout(err) || now == *seen {
		return false
	}
	*seen = now
	return set(time.Now().Add(c.shared.idle)) == nil
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// Recv puts the next message together from its segments.
func (c *conn) Recv(b []byte) (int, error) {
	if n, err := io.ReadFull(c, c.head[:]); err != nil {
		return 0, c.fail("receive", c.ended(err, n > 0))
	}
	size := binary.LittleEndian.Uint32(c.head[:])
	if uint64(size) > uint64(len(b)) {
		return 0, c.fail("receive", fmt.Errorf("message of %d B for a buffer of %d B: %w", size, len(b), echo.ErrTooLong))
	}
	if _, err := io.ReadFull(c, b[:size]); err != nil {
		return 0, c.fail("receive", c.ended(err, true))
	}
	return int(size), nil
}

// ended makes an idle server connection an orderly end, unless a message was cut in two.
func (c *conn) ended(err error, inside bool) error {
	switch {
	case isTimeout(err) && c.role == roleServer && inside:
		return io.ErrUnexpectedEOF
	case isTimeout(err) && c.role == roleServer:
		return io.EOF
	default:
		return err
	}
}

// fail names the connection and the reason, but leaves io.EOF bare, as io.Reader does.
func (c *conn) fail(op string, err error) error {
	switch {
	case err == io.EOF:
		return err
	case isTimeout(err):
		err = fmt.Errorf("no progress for %v: %w", c.shared.idle, os.ErrDeadlineExceeded)
	case errors.Is(err, io.ErrClosedPipe):
		err = net.ErrClosed
	}
	return fmt.Errorf("kcp connection to %s: %s: %w", c.session.RemoteAddr(), op, err)
}

// Settings adds buffers, datagram size, windows, minimum RTO and the absence of congestion control.
func (c *conn) Settings(s *wire.Settings) {
	w := windows(c.shared.cfg.Suite)
	s.TransportWindow = &w
	s.MTU, _ = mtuOf(c.shared.cfg) // checked when the session was made
	s.MinRTOUS = minRTO.Microseconds()
	s.CongestionControl = "none"
	if c.shared.socket != nil {
		c.shared.socket.settings(s)
	}
}

// Close ends this side only; the peer learns nothing. Closing again does nothing.
func (c *conn) Close() error {
	err := c.session.Close()
	if errors.Is(err, io.ErrClosedPipe) {
		return nil // closed before
	}
	if c.release != nil {
		err = errors.Join(err, c.release())
	}
	return err
}
