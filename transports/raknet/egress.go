//go:build linux

package raknet

import (
	"transportbench/transports/raknet/internal/core"
	"transportbench/transports/raknet/internal/sock"
)

// egress is what a shard has to send and whose it is. A shard has two: callers fill one while the poller sends the other.
type egress struct {
	out  core.Outbox
	runs []run
}

// run is n datagrams of c that follow each other.
type run struct {
	c     *Conn
	n     int
	first bool // of c in this egress
}

// mostPending bounds what waits to be sent, in datagrams: a whole flight. Less divides what one connection has to send; more would
// only grow with the number of connections.
const mostPending = 64

func (e *egress) size() int { return len(e.out.Datagrams) }

// only is the single datagram of e, if it is one, in one piece and c's.
func (e *egress) only(c *Conn) []byte {
	if d := e.out.Datagrams; len(d) == 1 && len(d[0].Tail) == 0 && e.runs[0].c == c {
		return d[0].Head
	}
	return nil
}

// output adds what c has to send.
func (sh *shard) output(c *Conn, now int64, ackNow bool) {
	before := sh.eg.size()
	c.s.Output(now, &sh.eg.out, ackNow)
	n := sh.eg.size() - before
	if n == 0 {
		return
	}
	if last := len(sh.eg.runs) - 1; last >= 0 && sh.eg.runs[last].c == c {
		sh.eg.runs[last].n += n
		return
	}
	sh.eg.runs = append(sh.eg.runs, run{c, n, c.pending != sh.eg})
	c.pending = sh.eg
}

// defers says whether what is pending may wait a little, because somebody is about to send it in one call with more: the poller,
// who is awake and sends everything before it sleeps, or a caller who has messages to read and will be back for them. Should those
// callers stay away, the background goroutine polls within two ticks.
func (sh *shard) defers(c *Conn) bool {
	if sh.eg.size() >= mostPending {
		return false
	}
	if sh.polling {
		return sh.blockedUntil == 0 && !sh.spinning
	}
	return sh.background && (c.s.Unread() > 0 || sh.woken)
}

// depart sends what is pending, unless it may wait for more, and brings the timers of c up to date.
func (sh *shard) depart(c *Conn) {
	if c.s.Done() || !sh.defers(c) {
		sh.flush()
	}
	sh.settle(c)
}

// flush sends what is pending. It comes before everything that may free a frame: what is pending points to frames.
func (sh *shard) flush() {
	if sh.eg.size() == 0 {
		return
	}
	sh.eg.lock()
	sh.eg.send(&sh.tx)
	sh.eg.unlock()
	sh.eg.reset(&sh.pool)
}

// flushUnlocked does the same for the poller, without holding mu meanwhile. Frames are only freed by the poller itself, and by
// whoever ends a connection, who waits for its tx.
func (sh *shard) flushUnlocked() {
	for sh.eg.size() > 0 {
		e := sh.eg
		sh.eg, sh.spare = sh.spare, nil
		e.lock()
		sh.mu.Unlock()
		e.send(&sh.pollerTx)
		e.unlock()
		sh.mu.Lock()
		e.reset(&sh.pool)
		sh.spare = e
	}
}

// quiesce sends what is pending and waits for whoever is sending for c: then its frames may be freed and its socket closed.
func (sh *shard) quiesce(c *Conn) {
	sh.flush()
	c.tx.Lock()
	c.tx.Unlock() //nolint:staticcheck // the wait is the point
}

// lock keeps others from sending for the connections of e: datagrams leave in order. mu is held.
func (e *egress) lock() {
	for _, r := range e.runs {
		if r.first {
			r.c.pending = nil
			r.c.tx.Lock()
		}
	}
}

func (e *egress) unlock() {
	for _, r := range e.runs {
		if r.first {
			r.c.tx.Unlock()
		}
	}
}

// send sends everything, in one call for each socket that follows another.
func (e *egress) send(tx *sock.Sender) {
	at, last := 0, -1
	for _, r := range e.runs {
		fd, to := r.c.route()
		if last >= 0 && fd != last {
			tx.Flush(last)
		}
		last = fd
		for _, d := range e.out.Datagrams[at : at+r.n] {
			tx.Add(fd, d.Head, d.Tail, to)
		}
		at += r.n
	}
	tx.Flush(last)
}

func (e *egress) reset(p *core.Pool) {
	e.out.Reset(p)
	clear(e.runs)
	e.runs = e.runs[:0]
}
