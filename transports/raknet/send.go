//go:build linux

package raknet

import (
	"context"

	"transportbench/transports/raknet/internal/codec"
	"transportbench/transports/raknet/internal/core"
)

// Send sends one message, reliable and ordered on channel 0. It copies b and returns once the message is on its way or queued;
// it waits only while the send buffer of 256 KiB is full. While received messages wait to be read, it may leave the datagram to be sent
// with the answers to those, within 4 ms should the caller stay away.
func (c *Conn) Send(ctx context.Context, b []byte) error {
	return c.send(ctx, &core.Message{Body: b, Mode: codec.ReliableOrdered})
}

// SendOwned is Send without the copy: b must stay unchanged until the peer has acknowledged it, as Flush tells.
func (c *Conn) SendOwned(ctx context.Context, b []byte) error {
	return c.send(ctx, &core.Message{Body: b, Mode: codec.ReliableOrdered, Owned: true})
}

// Message is a message with the way it is to travel.
type Message struct {
	Data        []byte
	Reliability Reliability
	Channel     uint8 // order channel, below 32; only the ordered and sequenced modes use it
	Owned       bool  // as with SendOwned
}

// Reliability is how a message travels.
type Reliability uint8

// The five modes.
const (
	Unreliable          = Reliability(codec.Unreliable)
	UnreliableSequenced = Reliability(codec.UnreliableSequenced) // older ones than the last delivered are dropped
	Reliable            = Reliability(codec.Reliable)            // in any order
	ReliableOrdered     = Reliability(codec.ReliableOrdered)
	ReliableSequenced   = Reliability(codec.ReliableSequenced)
)

// SendMessage sends m. Only ReliableOrdered messages may be larger than MTU - 60 bytes.
func (c *Conn) SendMessage(ctx context.Context, m Message) error {
	return c.send(ctx, &core.Message{Body: m.Data, Mode: codec.Reliability(m.Reliability), Channel: m.Channel, Owned: m.Owned})
}

func (c *Conn) send(ctx context.Context, m *core.Message) error {
	sh := c.sh
	sh.mu.Lock()
	if err := c.enqueue(ctx, m); err != nil {
		sh.mu.Unlock()
		return c.fail("send", err)
	}
	sh.output(c, sh.clock(), false)
	if only := sh.eg.only(c); only != nil && !c.s.Done() && !sh.defers(c) {
		c.sendUnlocked(only)
		return nil
	}
	sh.depart(c)
	sh.mu.Unlock()
	return nil
}

// sendUnlocked sends the only pending datagram, the usual result of Send, after it has released mu, so that others can go on meanwhile.
// What is sent is a copy: the original may be acknowledged, and its buffer used for something else, as soon as mu is free.
func (c *Conn) sendUnlocked(b []byte) {
	sh := c.sh
	fd, to := c.route()
	c.tx.Lock()
	if cap(c.packet) < len(b) {
		sh.pool.Put(c.packet)
		c.packet = sh.pool.Get(len(b))
	}
	c.packet = append(c.packet[:0], b...)
	c.pending = nil
	sh.eg.reset(&sh.pool)
	sh.settle(c)
	sh.mu.Unlock()
	sh.tx.One(fd, c.packet, to)
	c.tx.Unlock()
}

// enqueue waits until m is admitted.
func (c *Conn) enqueue(ctx context.Context, m *core.Message) error {
	if c.shut {
		return ErrClosed
	}
	if c.sh.polling {
		c.sh.company = companyYields
	}
	if err := c.s.Send(m); err != core.ErrWouldBlock {
		return err
	}
	return c.enqueueLater(ctx, m)
}

func (c *Conn) enqueueLater(ctx context.Context, m *core.Message) error {
	defer c.sh.leave()
	for {
		c.sh.emit(c, c.sh.clock(), false)
		if err := c.sh.await(ctx, c, writing); err != nil {
			return err
		}
		if c.shut {
			return ErrClosed
		}
		if err := c.s.Send(m); err != core.ErrWouldBlock {
			return err
		}
	}
}
