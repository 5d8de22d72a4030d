//go:build linux

package raknet

import (
	"sync"
	"time"

	"transportbench/transports/raknet/internal/core"
	"transportbench/transports/raknet/internal/sock"
)

// shard is a set of connections with their sockets. mu guards everything in it and in its connections; whoever holds it does the
// I/O. One goroutine at a time polls: it alone uses rx and waits for the sockets, mostly without holding mu.
type shard struct {
	mu    sync.Mutex
	clock func() int64
	cfg   core.Config
	spin  time.Duration

	pool core.Pool
	out  core.Outbox
	tx   sock.Sender
	rx   *sock.Receiver // of whoever polls
	wait *sock.Waiter

	number int       // within the listener or client
	server *endpoint // nil on a client
	fd     int       // the only socket, or -1: sockets are in the epoll set
	only   *Conn     // of a client while it has a single socket
	conns  []*Conn   // of a client, by epoll data
	alive  int       // connections

	polling      bool
	woken        bool   // callers were woken since the last yield
	polls        uint64 // polls started
	blockedUntil int64  // end of the wait that the poller is in; 0: it is not waiting
	lastLeave    int64  // when a caller last stopped polling
	parked       waiterList
	freeWaiters  *waiter
	timers       timerHeap
	acks         ackList
	dirty        []*Conn
	closing      []int // sockets to be closed once nobody polls

	background bool          // the background goroutine runs
	resting    bool          // and waits for rouse
	rouse      chan struct{} // capacity 1
	done       bool
	stopped    chan struct{}
}

const never = core.Never

func newShard(cfg core.Config, spin time.Duration, gso bool, batch int) (*shard, error) {
	w, err := sock.NewWaiter()
	if err != nil {
		return nil, err
	}
	sh := &shard{
		clock: sock.Monotonic(time.Now().Add(-time.Hour)), cfg: cfg, spin: spin, fd: -1,
		rx: sock.NewReceiver(batch), wait: w, rouse: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	sh.tx.GSO = gso
	return sh, nil
}

// emit sends what c has to send and brings its timers up to date.
func (sh *shard) emit(c *Conn, now int64, ackNow bool) {
	c.s.Output(now, &sh.out, ackNow)
	if len(sh.out.Datagrams) > 0 {
		sh.transmit(c)
	}
	sh.settle(c)
}

// transmit sends the outbox, all of which belongs to c.
func (sh *shard) transmit(c *Conn) {
	fd, to := c.route()
	c.tx.Lock() // a caller may be sending what was next before
	defer c.tx.Unlock()
	if d := sh.out.Datagrams; len(d) == 1 && len(d[0].Tail) == 0 {
		sh.tx.One(fd, d[0].Head, to)
	} else {
		for _, d := range sh.out.Datagrams {
			sh.tx.Add(fd, d.Head, d.Tail, to)
		}
		sh.tx.Flush(fd)
	}
	sh.out.Reset(&sh.pool)
}

// settle files c under its next deadline, and forgets it when its session is over.
func (sh *shard) settle(c *Conn) {
	if c.s.Done() {
		sh.forget(c)
		return
	}
	due := c.s.AckDue()
	if due == never {
		sh.acks.remove(c)
	} else if !c.ackListed {
		sh.acks.push(c, due)
		sh.wakeBy(due)
	}
	if d := c.s.Deadline(); d < c.timerAt {
		sh.timers.set(c, d)
		sh.wakeBy(d)
	}
}

// wakeBy makes sure that the poller does not sleep past due.
func (sh *shard) wakeBy(due int64) {
	if due < sh.blockedUntil {
		sh.blockedUntil = due
		sh.wait.Kick()
	}
}

// runTimers does what is due and returns the time of the next thing to do.
func (sh *shard) runTimers(now int64) int64 {
	for c := sh.acks.head; c != nil && c.ackDue <= now; c = sh.acks.head {
		sh.acks.remove(c)
		sh.emit(c, now, true)
	}
	for len(sh.timers) > 0 && sh.timers[0].timerAt <= now {
		c := sh.timers[0]
		if c.dial != nil {
			sh.tickDial(c, now)
			continue
		}
		if c.s.Deadline() <= now {
			c.s.Tick(now)
			sh.timers.set(c, never)
			sh.emit(c, now, false)
			sh.wakeReady(c)
			continue
		}
		sh.timers.set(c, c.s.Deadline())
	}
	next := never
	if sh.acks.head != nil {
		next = sh.acks.head.ackDue
	}
	if len(sh.timers) > 0 {
		next = min(next, sh.timers[0].timerAt)
	}
	return next
}

// forget takes an ended connection out of every list. Its unread messages stay readable.
func (sh *shard) forget(c *Conn) {
	if c.gone {
		return
	}
	c.gone = true
	c.tx.Lock() // nobody sends any more
	c.tx.Unlock()
	sh.acks.remove(c)
	sh.timers.remove(c)
	sh.alive--
	if sh.server != nil {
		sh.server.forget(sh, c)
	} else {
		sh.closeSocket(c)
	}
	sh.wakeAll(c)
}

// closeSocket closes a client's socket, later if the poller may be reading it.
func (sh *shard) closeSocket(c *Conn) {
	sh.conns[c.slot] = nil
	if sh.only == c {
		sh.fd, sh.only = -1, nil
	} else {
		sh.wait.Remove(c.fd)
	}
	if sh.polling {
		sh.closing = append(sh.closing, c.fd)
		sh.kick()
		return
	}
	sh.wait.Forget(c.fd)
	sock.Close(c.fd)
}

func (sh *shard) closeLate() {
	for _, fd := range sh.closing {
		sh.wait.Forget(fd)
		sock.Close(fd)
	}
	sh.closing = sh.closing[:0]
}
