//go:build linux

package udp

import "transportbench/transports/wire"

// lostAfterNS is when an echo is given up and its place in the window is used again.
const lostAfterNS = 50_000_000

// plan is the part of an invocation that every connection follows. Messages are numbered from 0 through warmup, samples, burst.
type plan struct {
	shape  shape
	window int
	warmup uint64 // sequential rounds that are not recorded
	rounds uint64 // all sequential rounds: warmup and samples
	total  uint64 // all messages
	lostNS int64  // lostAfterNS but in tests
	loaded bool   // keep the RTT of every burst message
}

// conn is the client's side of one connection: what is in flight and what was measured. One worker owns it.
type conn struct {
	index  uint64
	fd     int
	flight flight
	next   uint64 // number of the next message to send
	until  uint64 // messages below this number may be sent in the current phase
	window int    // of the current phase

	sparse   []int64 // RTTs of the recorded rounds in ns, in order of completion
	loaded   []int64 // RTTs of the burst, when the suite wants them
	rttSum   int64   // ns, burst
	lastNS   int64   // last verified echo of the burst, on the clock of the run
	burst    int64   // verified echoes of the burst
	verified int64
	lost     int64
	stray    int64 // verified datagrams that nobody awaited: duplicates, and echoes that came too late
}

func newConn(index int, fd int, p *plan) *conn {
	c := &conn{index: uint64(index), fd: fd, flight: newFlight(p.window), sparse: make([]int64, 0, p.rounds-p.warmup)}
	if p.loaded {
		c.loaded = make([]int64, 0, p.total-p.rounds)
	}
	return c
}

// idle says that the current phase has nothing left to send or to await.
func (c *conn) idle() bool { return c.next >= c.until && c.flight.n == 0 }

// sendable is how many messages may be sent now.
func (c *conn) sendable() int { return int(min(uint64(c.window-c.flight.n), c.until-c.next)) }

// echoed accounts for a datagram whose bytes are right. clock is read only when a message is complete.
func (c *conn) echoed(p *plan, msg uint64, fragment int, clock clock) error {
	if msg >= c.next {
		return &wire.VerificationError{Connection: c.index, Message: msg, Reason: "echo of a message that was never sent"}
	}
	i := c.flight.find(msg)
	if i < 0 || c.flight.at(i).missing>>fragment&1 == 0 {
		c.stray++
		return nil
	}
	e := c.flight.at(i)
	if e.missing &^= 1 << fragment; e.missing != 0 {
		return nil
	}
	now := clock.now()
	c.record(p, msg, now, now-e.sentNS)
	c.flight.remove(i)
	return nil
}

func (c *conn) record(p *plan, msg uint64, nowNS, rttNS int64) {
	c.verified++
	switch {
	case msg >= p.rounds:
		c.burst++
		c.rttSum += rttNS
		c.lastNS = nowNS
		if p.loaded {
			c.loaded = append(c.loaded, rttNS)
		}
	case msg >= p.warmup:
		c.sparse = append(c.sparse, rttNS)
	}
}

// expire gives up what was sent too long ago.
func (c *conn) expire(nowNS, lostNS int64) {
	for c.flight.n > 0 && nowNS-c.flight.at(0).sentNS >= lostNS {
		c.flight.remove(0)
		c.lost++
	}
}
