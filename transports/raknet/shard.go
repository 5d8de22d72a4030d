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

	pool      core.Pool
	eg, spare *egress
	tx        sock.Sender    // used while holding mu
	pollerTx  sock.Sender    // of whoever polls
	rx        *sock.Receiver // of whoever polls
	wait      *sock.Waiter

	number int       // within the listener or client
	server *endpoint // nil on a client
	fd     int       // the only socket, or -1: sockets are in the epoll set
	only   *Conn     // of a client while it has a single socket
	conns  []*Conn   // of a client, by epoll data
	alive  int       // connections

	polling      bool
	woken        bool   // callers were woken since the last yield
	fed          bool   // a caller took a message since the last yield
	company      int    // yields left for callers that send while another one polls
	polls        uint64 // polls started
	blockedUntil int64  // end of the wait that the poller is in; 0: it is not waiting
	spinning     bool   // the poller looks for input and nothing else
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
		eg: new(egress), spare: new(egress), rx: sock.NewReceiver(batch), wait: w, rouse: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	sh.tx.GSO, sh.pollerTx.GSO = gso, gso
	return sh, nil
}

// emit sends what c has to send, and whatever is pending, and brings its timers up to date.
func (sh *shard) emit(c *Conn, now int64, ackNow bool) {
	sh.output(c, now, ackNow)
	sh.flush()
	sh.settle(c)
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

// maxTimerDelay is how long timers wait for a socket that never runs dry.
const maxTimerDelay = int64(200 * time.Millisecond)

// runTimers does what is due and returns the time of the next thing to do. Only the poller calls it. While there is more to read, the
// sessions' timers wait: what looks like a timeout may be an acknowledgement that nobody has read.
func (sh *shard) runTimers(now int64, more bool) int64 {
	for c := sh.acks.head; c != nil && c.ackDue <= now; c = sh.acks.head {
		sh.acks.remove(c)
		sh.emit(c, now, true)
	}
	for len(sh.timers) > 0 && sh.timers[0].timerAt <= now && (!more || now-sh.timers[0].timerAt >= maxTimerDelay) {
		sh.runTimer(sh.timers[0], now)
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

func (sh *shard) runTimer(c *Conn, now int64) {
	sh.flush()
	if c.dial != nil {
		sh.tickDial(c, now)
		return
	}
	if sh.server == nil && c.s.Deadline() <= now {
		if n := sh.rx.Receive(c.fd); n > 0 {
			sh.inputClient(c, n)
		}
		if c.gone {
			return
		}
	}
	if due := c.s.Deadline(); due > now {
		sh.timers.set(c, due)
		return
	}
	c.s.Tick(now)
	sh.timers.set(c, never)
	sh.emit(c, now, false)
	sh.wakeReady(c)
}

// forget takes an ended connection out of every list. Its unread messages stay readable.
func (sh *shard) forget(c *Conn) {
	if c.gone {
		return
	}
	c.gone = true
	sh.quiesce(c)
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
