// Package echo is the workload: it sends numbered messages over any reliable ordered transport, verifies every echo and times them.
package echo

import (
	"context"

	"transportbench/transports/wire"
)

// Transport is what a driver offers the workload. Implementations must pass transports/echotest.
type Transport interface {
	// Describe is printed by `driver describe`.
	Describe() wire.Describe
	// Listen opens cfg.Listeners listeners on cfg.Addr; with more than one they share the port through SO_REUSEPORT.
	Listen(ctx context.Context, cfg wire.Config) ([]Listener, error)
	// Dial opens connection number index (from 0) to cfg.Addr. It is called by up to eight goroutines at once.
	Dial(ctx context.Context, cfg wire.Config, index int) (Conn, error)
}

// Listener hands out the accepted connections of one socket.
type Listener interface {
	Accept(ctx context.Context) (Conn, error)
	Addr() string
	Close() error
}

// Conn carries whole messages, reliably and in order. One goroutine may send while another receives.
type Conn interface {
	// Send queues one message; the caller may reuse b when it returns.
	Send(b []byte) error
	// Recv fills b with the next message and returns its length. io.EOF says that the peer is gone in an orderly way.
	Recv(b []byte) (int, error)
	// Settings adds what is only known of this connected socket (buffers granted, congestion control).
	Settings(s *wire.Settings)
	// Close is called once, maybe while Send or Recv is in progress in other goroutines: it makes them return an error.
	Close() error
}

// BatchConn is a Conn with calls for several messages, required for -api batch.
type BatchConn interface {
	Conn
	// SendBatch queues all messages in one call. It never waits for more.
	SendBatch(msgs [][]byte) error
	// RecvBatch blocks for the first message only, then takes what is ready, up to len(bufs); bufs[i] is resliced to its message.
	RecvBatch(bufs [][]byte) (int, error)
}

// Waiter is a BatchConn that can wait without a place to put messages. With it the workload lends its receive buffers to the
// connections that have something to receive, instead of 16 payloads to each of a thousand.
type Waiter interface {
	// Wait blocks until RecvBatch would return a message, or an error, at once.
	Wait() error
}

// Counted is a Conn that knows what it sent.
type Counted interface {
	// Sent returns datagrams and system calls of this side so far; negative means unknown.
	Sent() (datagrams, syscalls int64)
}
