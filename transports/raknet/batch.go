//go:build linux

package raknet

import (
	"context"
	"io"

	"transportbench/transports/raknet/internal/codec"
	"transportbench/transports/raknet/internal/core"
)

// MaxBatch is the largest number of messages that RecvBatch returns at once.
const MaxBatch = 64

// SendBatch sends messages, reliable and ordered on channel 0, in one call. Small ones share datagrams, up to Tuning.MaxPack each, until
// the connection first loses a datagram; the call never waits for more. All messages are checked before the first is queued; when
// the context ends while the send buffer is full, those before stay queued.
func (c *Conn) SendBatch(ctx context.Context, msgs [][]byte) error {
	return c.SendBatchOn(ctx, 0, msgs)
}

// SendBatchOn is SendBatch on another order channel.
func (c *Conn) SendBatchOn(ctx context.Context, channel uint8, msgs [][]byte) error {
	if len(msgs) == 0 {
		return nil
	}
	sh := c.sh
	sh.mu.Lock()
	err := c.enqueueAll(ctx, channel, msgs)
	sh.output(c, sh.clock(), false)
	sh.depart(c)
	sh.mu.Unlock()
	if err != nil {
		return c.fail("send", err)
	}
	return nil
}

func (c *Conn) enqueueAll(ctx context.Context, channel uint8, msgs [][]byte) error {
	m := core.Message{Mode: codec.ReliableOrdered, Channel: channel}
	for _, m.Body = range msgs {
		if err := c.s.Check(&m); err != nil {
			return err
		}
	}
	c.s.StartPacking(msgs)
	for _, m.Body = range msgs {
		if err := c.enqueue(ctx, &m); err != nil {
			return err
		}
	}
	return nil
}

// RecvBatch waits for one message and then takes what else is ready, up to len(bufs) and MaxBatch. Message i is copied into bufs[i],
// which is cut to its size; the capacity counts. A message that does not fit stays where it is: as the first it gives
// io.ErrShortBuffer, later it ends the batch.
func (c *Conn) RecvBatch(ctx context.Context, bufs [][]byte) (int, error) {
	if len(bufs) == 0 {
		return 0, nil
	}
	sh := c.sh
	sh.mu.Lock()
	defer sh.mu.Unlock()
	msg, err := c.next(ctx, cap(bufs[0]))
	if err != nil {
		return 0, c.fail("receive", err)
	}
	for n := 0; ; {
		bufs[n] = bufs[n][:len(msg)]
		copy(bufs[n], msg)
		sh.pool.Put(msg)
		if n++; n == len(bufs) || n == MaxBatch || c.s.Unread() == 0 {
			return n, nil
		}
		if msg, err = c.next(ctx, cap(bufs[n])); err == io.ErrShortBuffer {
			return n, nil
		}
	}
}

// Wait waits until a message is ready, without taking it, so that many connections can share few buffers.
func (c *Conn) Wait(ctx context.Context) error {
	c.sh.mu.Lock()
	defer c.sh.mu.Unlock()
	if c.s.Unread() > 0 {
		return nil
	}
	if err := c.awaitMessage(ctx); err != nil {
		return c.fail("receive", err)
	}
	return nil
}

// Owned is a received message in a buffer of the library. Release gives the buffer back.
type Owned struct {
	data []byte
	sh   *shard
}

// Bytes is the message. It must not be used after Release.
func (o *Owned) Bytes() []byte { return o.data }

// Release gives the buffer back; a second call does nothing. A message that is never released is left to the garbage collector.
func (o *Owned) Release() {
	if o.data == nil {
		return
	}
	o.sh.mu.Lock()
	o.sh.pool.Put(o.data)
	o.sh.mu.Unlock()
	o.data = nil
}

// RecvOwned is Recv without the copy.
func (c *Conn) RecvOwned(ctx context.Context) (Owned, error) {
	sh := c.sh
	sh.mu.Lock()
	msg, err := c.next(ctx, core.MaxMessage)
	sh.mu.Unlock()
	if err != nil {
		return Owned{}, c.fail("receive", err)
	}
	return Owned{msg, sh}, nil
}
