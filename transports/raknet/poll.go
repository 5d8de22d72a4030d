//go:build linux

package raknet

import (
	"runtime"
	"time"
)

// tick is how long the background goroutine leaves the sockets to callers that have just polled.
const tick = 2 * time.Millisecond

// drainRounds bounds how many full reads follow each other before callers have their turn. Messages wait in the process, where they
// are acknowledged, rather than in the socket's buffer, which overflows when many peers send at once.
const drainRounds = 16

// poll reads what has arrived and handles it. If nothing has, it does what is due and waits, at most until the given time.
// mu is held on entry and on return, but not while waiting.
func (sh *shard) poll(until int64) {
	sh.polling = true
	sh.polls++
	fd := sh.fd
	if fd >= 0 {
		sh.pollOne(fd, until)
	} else {
		sh.pollMany(until)
	}
	sh.polling = false
	sh.blockedUntil = 0
	sh.closeLate()
}

// pollOne polls a single socket.
func (sh *shard) pollOne(fd int, until int64) {
	owner := sh.only // may be joined by others while the lock is free; what is read here is still its own
	yield := sh.takeYield()
	sh.mu.Unlock()
	n := sh.rx.Receive(fd)
	if n == 0 && yield {
		runtime.Gosched()
	}
	if sh.spin > 0 && n == 0 {
		n = sh.spinFor(func() int { return sh.rx.Receive(fd) })
	}
	sh.mu.Lock()
	sh.flushUnlocked()
	if n == 0 {
		ns := sh.sleepTime(until)
		if ns == 0 {
			return
		}
		sh.mu.Unlock()
		sh.wait.Wait(fd, ns)
		n = sh.rx.Receive(fd)
		sh.mu.Lock()
		sh.blockedUntil = 0
	}
	more := false
	for round := 1; n > 0; round++ {
		sh.input(owner, n)
		if more = sh.rx.Full(n); !more || round == drainRounds || sh.done {
			break
		}
		sh.mu.Unlock()
		n = sh.rx.Receive(fd)
		sh.mu.Lock()
		sh.flushUnlocked()
	}
	sh.runTimers(sh.clock(), more)
	sh.flushUnlocked()
}

// companyYields is how many times in a row the poller yields for senders that then have nothing to send.
const companyYields = 4

// takeYield says whether others should run before the poller sleeps: callers that were woken, because a thread that sleeps in the
// kernel would keep them waiting, and callers that answer what the poller has just taken, because what they send while it sleeps
// leaves in a system call and wakes the peer for each datagram alone. Yielding without need is costly: the runtime wakes another
// thread for every yield.
func (sh *shard) takeYield() bool {
	yield := sh.woken
	if sh.fed && sh.company > 0 {
		sh.company--
		yield = true
	}
	sh.woken, sh.fed = false, false
	return yield
}

// spinFor asks again and again for what has arrived, as long as tuning allows. Callers send for themselves meanwhile.
func (sh *shard) spinFor(ready func() int) (n int) {
	sh.mu.Lock()
	sh.flushUnlocked()
	sh.spinning = true
	sh.mu.Unlock()
	for end := sh.clock() + int64(sh.spin); n == 0 && sh.clock() < end; {
		n = ready()
	}
	sh.mu.Lock()
	sh.spinning = false
	sh.mu.Unlock()
	return n
}

// sleepTime runs the timers and returns how long the poller may sleep in ns; negative means for ever.
func (sh *shard) sleepTime(until int64) int64 {
	now := sh.clock()
	next := min(sh.runTimers(now, false), until)
	sh.flush()
	if sh.done || len(sh.closing) > 0 || next <= now {
		return 0
	}
	sh.blockedUntil = next
	if next == never {
		return -1
	}
	return next - now
}

// pollMany polls a client's sockets, those that have something.
func (sh *shard) pollMany(until int64) {
	yield := sh.takeYield()
	sh.mu.Unlock()
	n := sh.wait.Ready()
	if n == 0 && yield {
		runtime.Gosched()
	}
	if sh.spin > 0 && n == 0 {
		n = sh.spinFor(sh.wait.Ready)
	}
	sh.mu.Lock()
	sh.flushUnlocked()
	if n == 0 {
		ns := sh.sleepTime(until)
		if ns == 0 {
			return
		}
		sh.mu.Unlock()
		sh.wait.Wait(-1, ns)
		n = sh.wait.Ready()
		sh.mu.Lock()
		sh.blockedUntil = 0
	}
	for i := range n {
		slot := sh.wait.Event(i)
		if slot < 0 || sh.conns[slot] == nil {
			continue
		}
		if got := sh.rx.Receive(sh.conns[slot].fd); got > 0 {
			sh.flush()
			sh.inputClient(sh.conns[slot], got)
		}
	}
	if n > 0 {
		sh.runTimers(sh.clock(), false)
	}
	sh.flushUnlocked()
}

// input handles the n datagrams in rx, a client's for c.
func (sh *shard) input(c *Conn, n int) {
	if sh.server != nil {
		sh.inputServer(n)
	} else if c != nil {
		sh.inputClient(c, n)
	}
}

// run is the background goroutine of a shard: it polls while no caller does. It ends when the shard is closed.
func (sh *shard) run() {
	defer close(sh.stopped)
	seen := uint64(0)
	sh.mu.Lock()
	for !sh.done {
		switch {
		case sh.polling && sh.polls == seen: // a caller sleeps in its poll and will for a while
			sh.resting = true
			sh.mu.Unlock()
			<-sh.rouse
			sh.mu.Lock()
		case sh.polling, sh.lastLeave != 0 && sh.clock()-sh.lastLeave < int64(tick):
			seen = sh.polls
			sh.mu.Unlock()
			time.Sleep(tick)
			sh.mu.Lock()
		default:
			sh.poll(never)
			sh.handOver()
		}
	}
	for sh.polling { // a caller, who has been kicked
		sh.mu.Unlock()
		runtime.Gosched()
		sh.mu.Lock()
	}
	sh.shutdown()
	sh.mu.Unlock()
}

// handOver lets callers poll: one that is parked, or those that have just been woken and will soon be back.
func (sh *shard) handOver() {
	w := sh.parked.head
	if w == nil && !sh.woken || sh.done {
		return
	}
	sh.woken = false
	sh.lastLeave = sh.clock()
	if w != nil {
		sh.unpark(w)
	}
}

// stop ends the shard and waits for its goroutine.
func (sh *shard) stop() {
	sh.mu.Lock()
	sh.done = true
	sh.kick()
	if sh.resting {
		sh.resting = false
		sh.rouse <- struct{}{}
	}
	started := sh.background
	sh.mu.Unlock()
	if started {
		<-sh.stopped
	}
}
