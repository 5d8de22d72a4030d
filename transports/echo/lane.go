package echo

import (
	"errors"
	"fmt"
	"sync/atomic"

	"transportbench/transports/wire"
)

// lane is one connection of the client with its place in the numbering. Between two barriers it belongs to one goroutine (in the
// single suites: one for sending and one for receiving, which share no field that either writes).
type lane struct {
	cfg   *wire.Config
	clock clock
	index uint64
	conn  Conn
	batch BatchConn // nil unless -api batch
	rooms *roomPool // where concurrent batches are received; nil unless -api batch
	shut  atomic.Bool

	next uint64 // receiver: number of the echo that must come next
	in   []byte // receiver

	sent uint64   // sender: number of the next message
	out  [][]byte // sender: payloads to be numbered, one, or batchSize of them in the single suites with -api batch

	sparse   []int64 // RTTs of the recorded rounds, in order
	loaded   []int64 // RTTs of the burst in order; nil outside the loaded suite
	ring     []int64 // send times of the last window messages; nil outside the loaded suite
	sentNS   int64   // sum of the send times of the burst
	echoedNS int64   // sum of the times of its verified echoes; the difference is the sum of its RTTs
	endNS    int64   // time of the last one
	burst    int     // verified echoes of the burst
}

func newLane(cfg *wire.Config, clk clock, index int, conn Conn, rooms *roomPool) (*lane, error) {
	l := &lane{cfg: cfg, clock: clk, index: uint64(index), conn: conn}
	buffers := 1
	if cfg.API == wire.APIBatch {
		b, ok := conn.(BatchConn)
		if !ok {
			return nil, &wire.UnsupportedError{What: "api batch on this connection"}
		}
		l.batch, l.rooms = b, rooms
		if oneConnection(cfg.Suite) {
			buffers = batchSize
		}
	}
	l.out = slab(buffers, cfg.Payload)
	for _, b := range l.out {
		wire.BuildPayload(b, l.index, 0)
	}
	l.in = make([]byte, cfg.Payload)
	return l, nil
}

// close ends the connection; it may be called from any goroutine and unblocks a Recv or Send in progress. Only the first call does
// anything, and the others do not wait for it: a transport may hang here.
func (l *lane) close() {
	if l.shut.CompareAndSwap(false, true) {
		_ = l.conn.Close()
	}
}

// send sends the next message.
func (l *lane) send() error {
	b := l.out[0]
	wire.NumberPayload(b, l.sent)
	l.sent++
	if err := l.conn.Send(b); err != nil {
		return l.broken("send", l.sent-1, err)
	}
	return nil
}

// receive waits for the next echo and verifies every byte of it.
func (l *lane) receive() error {
	n, err := l.conn.Recv(l.in)
	if err != nil {
		return l.broken("receive", l.next, err)
	}
	return l.verify(l.in[:n])
}

func (l *lane) verify(b []byte) error {
	if len(b) != l.cfg.Payload {
		return &wire.VerificationError{Connection: l.index, Message: l.next, Reason: fmt.Sprintf("echo has %d bytes instead of %d", len(b), l.cfg.Payload)}
	}
	if err := wire.CheckPayload(b, l.index, l.next); err != nil {
		return err
	}
	l.next++
	return nil
}

// broken sorts a transport's error: a peer that left owes the echo, a message of the wrong size is a wrong echo.
func (l *lane) broken(call string, message uint64, err error) error {
	switch {
	case errors.Is(err, ErrTooLong):
		return &wire.VerificationError{Connection: l.index, Message: message, Reason: "echo is wrong: " + err.Error()}
	case peerGone(err):
		return &wire.VerificationError{Connection: l.index, Message: message, Reason: "echo is missing, the server ended the connection: " + err.Error()}
	}
	return fmt.Errorf("connection %d message %d: %s: %w", l.index, message, call, err)
}

// rounds sends and awaits the warmup messages and then the recorded ones, one at a time.
func (l *lane) rounds() error {
	for range l.cfg.Warmup {
		if err := l.round(); err != nil {
			return err
		}
	}
	for i := range l.sparse {
		start := l.clock.now()
		if err := l.round(); err != nil {
			return err
		}
		l.sparse[i] = l.clock.now() - start
	}
	return nil
}

// round goes through the batch call, with one message, only in the single suites with -api batch, as published.
func (l *lane) round() error {
	var err error
	if l.batch != nil && oneConnection(l.cfg.Suite) {
		err = l.sendBatch(l.out[:1], nil)
	} else {
		err = l.send()
	}
	if err != nil {
		return err
	}
	return l.receive()
}

func oneConnection(suite string) bool { return suite == wire.SuiteSingle || suite == wire.SuiteSparse }

// sendBatch sends the next messages in one call, in buffers that hold payloads of this connection already. stamp, if any, is told of
// each as it is built.
func (l *lane) sendBatch(msgs [][]byte, stamp func()) error {
	first := l.sent
	for _, b := range msgs {
		if stamp != nil {
			stamp()
		}
		wire.NumberPayload(b, l.sent)
		l.sent++
	}
	if err := l.batch.SendBatch(msgs); err != nil {
		return l.broken("send batch", first, err)
	}
	return nil
}

// surplus waits for what must not come: a message after the last echo. It returns nil once the connection is closed.
func (l *lane) surplus() error {
	n, err := l.conn.Recv(l.in)
	switch {
	case err == nil:
		return &wire.VerificationError{Connection: l.index, Message: l.next, Reason: fmt.Sprintf("surplus echo of %d bytes after the last one", n)}
	case errors.Is(err, ErrTooLong):
		return l.broken("receive", l.next, err)
	}
	return nil
}
