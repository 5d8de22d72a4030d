package quic

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	quicgo "github.com/quic-go/quic-go"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// headerBytes is the length of the length.
const headerBytes = 4

// conn is one connection with its one stream.
type conn struct {
	qc     *quicgo.Conn
	shared shared

	first    sync.Once // finds the stream
	stream   *quicgo.Stream
	noStream error
	client   bool
	release  func() error // of the socket, once the connection is closed
	closed   sync.Once

	out  []byte // the record being sent; belongs to the sending goroutine
	head [headerBytes]byte
}

// framed is a Conn of either API.
type framed interface {
	echo.Conn
	base() *conn
}

func (c *conn) base() *conn { return c }

// newConn makes the Conn that the API of the run asks for.
func newConn(qc *quicgo.Conn, s shared) framed {
	c := &conn{qc: qc, shared: s}
	if s.cfg.API == wire.APIBatch {
		return newBatchConn(c)
	}
	return c
}

// own gives a client's connection the stream it opened.
func (c *conn) own(stream *quicgo.Stream, release func() error) {
	c.first.Do(func() { c.stream = stream })
	c.client, c.release = true, release
}

// ready returns the stream. On the server the first call waits until the client has written.
func (c *conn) ready() (*quicgo.Stream, error) {
	c.first.Do(func() {
		// No context: the idle timeout of the connection bounds the wait, and its own error says how the peer left.
		c.stream, c.noStream = c.qc.AcceptStream(context.Background())
	})
	return c.stream, c.noStream
}

// Read is the stream's, whatever side opened it.
func (c *conn) Read(b []byte) (int, error) {
	stream, err := c.ready()
	if err != nil {
		return 0, err
	}
	return stream.Read(b)
}

// Send writes length and message in one Write, which waits while the flow control window is full.
func (c *conn) Send(b []byte) error {
	c.out = appendRecord(c.out[:0], b)
	return c.write()
}

// write sends what out holds.
func (c *conn) write() error {
	stream, err := c.ready()
	if err == nil {
		_, err = stream.Write(c.out)
	}
	if err != nil {
		return c.fail("send", err)
	}
	return nil
}

func appendRecord(out, b []byte) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(b)))
	return append(out, b...)
}

// Recv reads the 4 bytes and then the body straight into b.
func (c *conn) Recv(b []byte) (int, error) {
	n, err := readRecord(c, c.head[:], b)
	if err != nil {
		return 0, c.fail("receive", err)
	}
	return n, nil
}

// readRecord fills b with the next message. io.EOF stands for an orderly end between two records only.
func readRecord(r io.Reader, head, b []byte) (int, error) {
	if n, err := io.ReadFull(r, head); err != nil {
		return 0, ended(err, n > 0)
	}
	size := binary.LittleEndian.Uint32(head)
	if uint64(size) > uint64(len(b)) {
		return 0, fmt.Errorf("message of %d B for a buffer of %d B: %w", size, len(b), echo.ErrTooLong)
	}
	if _, err := io.ReadFull(r, b[:size]); err != nil {
		return 0, ended(err, true)
	}
	return int(size), nil
}

// ended translates the ways in which a peer leaves: the end of the stream and CONNECTION_CLOSE with application error 0.
func ended(err error, inside bool) error {
	var closed *quicgo.ApplicationError
	orderly := errors.Is(err, io.EOF) || errors.As(err, &closed) && closed.Remote && closed.ErrorCode == 0
	switch {
	case orderly && inside:
		return io.ErrUnexpectedEOF
	case orderly:
		return io.EOF
	default:
		return err
	}
}

// fail names the connection, but leaves io.EOF bare, as io.Reader does.
func (c *conn) fail(op string, err error) error {
	if err == io.EOF {
		return err
	}
	return fmt.Errorf("quic connection to %s: %s: %w", c.qc.RemoteAddr(), op, err)
}

// Settings adds buffers, packet size, segmentation offload and congestion control.
func (c *conn) Settings(s *wire.Settings) {
	s.MTU = int(c.shared.packetSize)
	s.CongestionControl = "newreno (quic-go)"
	if c.shared.socket != nil {
		c.shared.socket.settings(s)
	}
}

// Sent counts a client's datagrams and its sending system calls. A server's connections share sockets, so there it is unknown.
func (c *conn) Sent() (datagrams, syscalls int64) {
	if !c.client || c.shared.socket == nil {
		return -1, -1
	}
	return c.shared.socket.datagrams.Load(), c.shared.socket.syscalls.Load()
}

// Close tells the peer and lets go of the socket. Closing again does nothing.
func (c *conn) Close() (err error) {
	c.closed.Do(func() { err = errors.Join(c.qc.CloseWithError(0, ""), c.release()) })
	return err
}
