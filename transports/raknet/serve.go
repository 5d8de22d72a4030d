//go:build linux

package raknet

import (
	"transportbench/transports/raknet/internal/codec"
	"transportbench/transports/raknet/internal/core"
	"transportbench/transports/raknet/internal/sock"
)

// inputServer hands the n datagrams in rx to their connections, and then lets those answer.
func (sh *shard) inputServer(n int) {
	now := sh.clock()
	for i := range n {
		b, from, cut := sh.rx.Datagram(i)
		if len(b) == 0 {
			continue
		}
		c := sh.server.peers.find(from.Key())
		if c == nil || b[0] < codec.FlagValid && len(b) > 1 {
			sh.inputOffline(now, c, b, from)
			continue
		}
		if cut {
			continue
		}
		c.s.Receive(now, b)
		if !c.dirty {
			c.dirty = true
			sh.dirty = append(sh.dirty, c)
		}
	}
	sh.answer(now)
}

// answer collects what the connections of one batch have to send, for the poller's next flush, and wakes their callers.
func (sh *shard) answer(now int64) {
	for _, c := range sh.dirty {
		sh.output(c, now, false)
	}
	for i, c := range sh.dirty {
		sh.dirty[i], c.dirty = nil, false
		sh.settle(c)
		if c.half && c.s.Connected() {
			sh.server.opened(sh, c, now)
		}
		sh.wakeReady(c)
	}
	sh.dirty = sh.dirty[:0]
}

// inputOffline answers a datagram that belongs to no connection. c is the connection of the same address, or nil.
func (sh *shard) inputOffline(now int64, c *Conn, b []byte, from *sock.Addr) {
	e := sh.server
	src := from.AddrPort()
	op, asks := e.offline.Receive(now, src, b, &e.replies)
	if asks {
		e.decide(sh, now, c, op, from)
	}
	for _, d := range e.replies.Datagrams {
		sh.tx.One(sh.fd, d.Head, from)
	}
	e.replies.Reset(&sh.pool)
}

// decide grants, repeats or ignores a request for a connection.
func (e *endpoint) decide(sh *shard, now int64, c *Conn, op core.Opening, from *sock.Addr) {
	if c != nil {
		switch {
		case c.half && c.guid == op.GUID: // reply 2 was lost
			e.offline.Accept(c.peer, core.Opening{MTU: c.s.MTU()}, &e.replies)
			return
		case c.shut || e.offline.Cookies && c.guid != op.GUID:
			sh.quiesce(c)
			c.s.Abort(ErrReplaced) // the cookie has proven the address
			sh.settle(c)
		default:
			c.s.Suspect(now) // the address may be forged: ask the peer we know
			sh.emit(c, now, false)
			return
		}
	}
	if sh.done || len(e.l.accepts) == cap(e.l.accepts) || e.l.half.Load() >= int64(e.l.opts.HalfOpen) {
		return // the peer tries again
	}
	e.open(sh, now, op, from)
}

func (e *endpoint) open(sh *shard, now int64, op core.Opening, from *sock.Addr) {
	c := newConn(sh, from.AddrPort(), e.l.addr)
	c.addr, c.guid, c.half = *from, op.GUID, true
	c.s = core.New(&sh.cfg, &sh.pool, c.peer, op.MTU, now)
	e.peers.add(from.Key(), c)
	e.l.half.Add(1)
	sh.alive++
	e.offline.Accept(c.peer, op, &e.replies)
	sh.settle(c)
}

// opened hands a connection to Accept. When the backlog has filled up meanwhile, the connection ends.
func (e *endpoint) opened(sh *shard, c *Conn, now int64) {
	c.half = false
	e.l.half.Add(-1)
	select {
	case e.l.accepts <- c:
	default:
		c.shut = true
		c.s.Close(now)
		sh.emit(c, now, false)
	}
}

func (e *endpoint) forget(_ *shard, c *Conn) {
	e.peers.remove(c.addr.Key(), c)
	if c.half {
		c.half = false
		e.l.half.Add(-1)
	}
}

// shutdown ends everything in the shard: a notice to each peer, then the sockets. mu is held, and nobody polls any more or will.
func (sh *shard) shutdown() {
	now := sh.clock()
	sh.flush()
	for _, c := range sh.all() {
		if c.s != nil && c.s.Connected() {
			c.s.Close(now)
			sh.emit(c, now, true)
		}
		if !c.gone {
			sh.drop(c, ErrClosed)
		}
	}
	if sh.fd >= 0 {
		sock.Close(sh.fd)
		sh.fd = -1
	}
	sh.closeLate()
	sh.wait.Close()
}

func (sh *shard) all() (list []*Conn) {
	from := sh.conns
	if sh.server != nil {
		from = sh.server.peers.slots
	}
	for _, c := range from {
		if c != nil {
			list = append(list, c)
		}
	}
	return list
}
