//go:build linux

package raknet

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"transportbench/transports/raknet/internal/core"
	"transportbench/transports/raknet/internal/sock"
)

// dialTimeout bounds a Dial whose context has no end.
const dialTimeout = 10 * time.Second

// dialTo opens a socket in sh and waits for the end of the handshake.
func (sh *shard) dialTo(ctx context.Context, peer netip.AddrPort, o *DialOptions, t Tuning) (*Conn, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, dialTimeout, ErrTimeout)
		defer cancel()
	}
	fd, local, err := openClient(peer, o, t)
	if err != nil {
		return nil, err
	}
	c := newConn(sh, peer, local)
	c.fd, c.dial = fd, newDial(peer, o)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.done {
		sock.Close(fd)
		return nil, ErrClosed
	}
	if err := sh.adopt(c); err != nil {
		sock.Close(fd)
		return nil, err
	}
	sh.tickDial(c, sh.clock())
	defer sh.leave()
	for !c.ready(dialing) {
		if err := sh.await(ctx, c, dialing); err != nil {
			sh.drop(c, cause(ctx, err))
			return nil, c.failed
		}
	}
	c.watched = nil
	if c.failed == nil && c.s.Err() != nil {
		c.failed = c.s.Err()
	}
	if c.failed != nil {
		return nil, c.failed
	}
	return c, sock.DontFragment(fd, false, !peer.Addr().Is4())
}

// cause prefers what the context says of its end.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return err
}

// adopt gives c a place among the sockets of sh: the first is waited for directly, more of them through epoll.
func (sh *shard) adopt(c *Conn) error {
	if c.slot = slices.Index(sh.conns, nil); c.slot < 0 {
		c.slot = len(sh.conns)
		sh.conns = append(sh.conns, nil)
	}
	if sh.alive == 0 {
		sh.fd, sh.only = c.fd, c
		sh.kick() // whoever waits for other sockets
	} else {
		if err := sh.useEpoll(); err != nil {
			return err
		}
		if err := sh.wait.Add(c.fd, int32(c.slot)); err != nil {
			return err
		}
	}
	sh.conns[c.slot] = c
	sh.alive++
	return nil
}

// useEpoll moves the only socket into the epoll set, for good.
func (sh *shard) useEpoll() error {
	if sh.only != nil {
		if err := sh.wait.Add(sh.only.fd, int32(sh.only.slot)); err != nil {
			return err
		}
		sh.fd, sh.only = -1, nil
	}
	sh.kick() // whoever waits for the only socket
	return nil
}

// drop ends the handshake of c with err.
func (sh *shard) drop(c *Conn, err error) {
	if c.failed == nil {
		c.failed = err
	}
	if c.s != nil {
		sh.quiesce(c)
		c.s.Abort(err)
		sh.settle(c)
		return
	}
	sh.forget(c)
}

// tickDial sends the request that is due.
func (sh *shard) tickDial(c *Conn, now int64) {
	lost := sh.tx.TooLarge.Load()
	sh.flush() // what is pending is others'
	c.dial.Output(now, &sh.eg.out)
	for _, d := range sh.eg.out.Datagrams {
		sh.tx.One(c.fd, d.Head, nil)
	}
	sh.eg.reset(&sh.pool)
	if sh.tx.TooLarge.Load() != lost {
		c.dial.TooLarge(now)
	}
	sh.timers.set(c, max(c.dial.Deadline(), now+1))
	sh.wakeBy(c.timerAt)
}

// inputClient handles the n datagrams in rx, all of them for c. The poller sends the answers.
func (sh *shard) inputClient(c *Conn, n int) {
	now := sh.clock()
	for i := range n {
		b, _, cut := sh.rx.Datagram(i)
		switch {
		case cut || c.gone:
		case c.dial != nil:
			sh.inputDial(c, now, b)
		default:
			c.s.Receive(now, b)
		}
	}
	if c.dial == nil && !c.gone {
		sh.output(c, now, false)
		sh.settle(c)
		sh.wakeReady(c)
	}
}

func (sh *shard) inputDial(c *Conn, now int64, b []byte) {
	second := c.dial.Answered()
	mtu, err := c.dial.Receive(now, b)
	switch {
	case err != nil:
		sh.drop(c, err)
	case mtu != 0:
		cfg := sh.cfg
		cfg.GUID, c.guid = c.dial.GUID, c.dial.ServerGUID()
		c.s = core.New(&cfg, &sh.pool, c.peer, mtu, now)
		c.dial = nil
		sh.timers.set(c, never)
		c.s.Start(now)
	case !second && c.dial.Answered():
		sh.tickDial(c, now)
	}
}
