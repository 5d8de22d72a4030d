//go:build linux

package raknet

import (
	"context"
	"os"
)

// What a parked caller waits for.
type purpose uint8

const (
	reading  purpose = iota // a message or the end
	writing                 // room in the send buffer or the end
	flushing                // everything acknowledged or the end
	dialing                 // the end of the handshake
)

// waiter is one parked caller. It is in two lists: its connection's and, for the succession of the poller, its shard's.
type waiter struct {
	c          *Conn
	why        purpose
	parked     bool
	ch         chan struct{} // capacity 1
	next, prev *waiter       // in the shard, oldest first
	sibling    *waiter       // in the connection
}

type waiterList struct{ head, tail *waiter }

func (l *waiterList) push(w *waiter) {
	w.next, w.prev = nil, l.tail
	if l.tail == nil {
		l.head = w
	} else {
		l.tail.next = w
	}
	l.tail = w
}

func (l *waiterList) remove(w *waiter) {
	if w.prev == nil {
		l.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev = nil, nil
}

// await lets time pass for a caller whose condition is not met: it polls if nobody else does, and parks otherwise. It may return
// early; the caller looks at its condition again. mu is held on entry and on return.
func (sh *shard) await(ctx context.Context, c *Conn, why purpose) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if sh.done {
		return ErrClosed
	}
	until := c.deadlineOf(why)
	if until != never && sh.clock() >= until {
		return os.ErrDeadlineExceeded
	}
	if sh.polling {
		sh.park(ctx, c, why)
		return nil
	}
	if done := ctx.Done(); done != nil && done != c.watched {
		c.watched = done
		context.AfterFunc(ctx, sh.interrupt)
	}
	sh.poll(until)
	return nil
}

func (sh *shard) park(ctx context.Context, c *Conn, why purpose) {
	w := sh.freeWaiters
	if w == nil {
		w = &waiter{ch: make(chan struct{}, 1)}
	} else {
		sh.freeWaiters = w.next
	}
	w.c, w.why, w.parked = c, why, true
	w.sibling, c.waiters = c.waiters, w
	sh.parked.push(w)
	sh.mu.Unlock()
	select {
	case <-w.ch:
	case <-ctx.Done():
	}
	sh.mu.Lock()
	if w.parked {
		sh.unlink(w)
	}
	select { // the wake-up and the end of the context may come together
	case <-w.ch:
	default:
	}
	w.c, w.next = nil, sh.freeWaiters
	sh.freeWaiters = w
}

func (sh *shard) unlink(w *waiter) {
	w.parked = false
	sh.parked.remove(w)
	for at := &w.c.waiters; *at != nil; at = &(*at).sibling {
		if *at == w {
			*at = w.sibling
			break
		}
	}
	w.sibling = nil
}

func (sh *shard) unpark(w *waiter) {
	sh.unlink(w)
	sh.woken = true
	w.ch <- struct{}{}
}

// wakeReady wakes the callers of c whose condition may be met.
func (sh *shard) wakeReady(c *Conn) {
	for w := c.waiters; w != nil; {
		next := w.sibling
		if c.ready(w.why) {
			sh.unpark(w)
		}
		w = next
	}
}

func (sh *shard) wakeAll(c *Conn) {
	for c.waiters != nil {
		sh.unpark(c.waiters)
	}
}

// leave is called by a caller that awaited and now returns to its application. Polling passes to the caller that has been parked
// longest, or to the background goroutine if none comes back soon.
func (sh *shard) leave() {
	if sh.polling {
		return
	}
	if w := sh.parked.head; w != nil {
		sh.unpark(w)
		return
	}
	sh.lastLeave = sh.clock()
	if sh.resting {
		sh.resting = false
		sh.rouse <- struct{}{}
	}
}

// interrupt makes a sleeping poller look at its condition again.
func (sh *shard) interrupt() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.kick()
}

func (sh *shard) kick() {
	if sh.blockedUntil != 0 {
		sh.wait.Kick()
	}
}
