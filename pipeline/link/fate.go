package link

import (
	"math/bits"
	"time"

	"transportbench/pipeline/matrix"
)

// linkHeader is what a packet on lo carries before its IP header: netem counts it in a rate, so this does too.
const linkHeader = 14 // bytes

// fates decides about each packet that a queue holds: lost, or due at a moment. It reads no clock and touches no kernel. Calls
// come from one goroutine, in the order of arrival.
type fates struct {
	plan plan
	d    *decider
	next [len(directionNames)][1 << 16]uint32 // number of the next packet
	bad  [len(directionNames)][1 << 16]bool   // state of the burst chain

	lost               uint64 // thresholds
	toBad, toGood      uint64
	lostBad, lostGood  uint64
	startBad, overtake uint64
	freeNS             int64 // when the link has sent what was accepted so far
}

func newFates(p plan) *fates {
	b := p.more.Burst
	f := &fates{
		plan: p, d: newDecider(p.seed), lost: threshold(p.lossPPM), overtake: threshold(p.more.ReorderPPM),
		toBad: threshold(b.GoodToBadPPM), toGood: threshold(b.BadToGoodPPM), lostBad: threshold(b.BadLossPPM), lostGood: threshold(b.GoodLossPPM),
	}
	if b.On() {
		f.startBad = uint64(b.InBad()*(1<<32)) << 32
	}
	return f
}

// judge returns when the next packet of a connection leaves, or that it is lost. bytes is its IP length; times count from
// when the link was put in force.
func (f *fates) judge(direction int, connection uint16, bytes int, nowNS int64) (dueNS int64, lost bool) {
	n := f.next[direction][connection]
	f.next[direction][connection]++
	if f.loses(direction, connection, n) {
		return 0, true
	}
	if f.overtake > 0 && f.d.draw(drawReorder, direction, connection, n) < f.overtake {
		return nowNS, false
	}
	dueNS = nowNS + int64(f.hold(direction, connection, n))
	if rate := f.rate(nowNS); rate > 0 {
		dueNS = max(dueNS, f.freeNS) + sendNS(bytes+linkHeader, rate)
		f.freeNS = dueNS
	}
	return dueNS, false
}

// loses draws the loss of a packet from the state that it meets; the chain moves behind it, as in net/sched/sch_netem.c.
func (f *fates) loses(direction int, connection uint16, n uint32) bool {
	draw := f.d.draw(drawLoss, direction, connection, n)
	if !f.plan.more.Burst.On() {
		return draw < f.lost
	}
	bad := &f.bad[direction][connection]
	if n == 0 { // in the long run's proportion, so that many short connections lose as much as one long one
		*bad = f.d.draw(drawStart, direction, connection, n) < f.startBad
	}
	chance, turn := f.lostGood, f.toBad
	if *bad {
		chance, turn = f.lostBad, f.toGood
	}
	if f.d.draw(drawTurn, direction, connection, n) < turn {
		*bad = !*bad
	}
	return draw < chance
}

// hold is the delay of a packet: with jitter uniform in [delay - jitter, delay + jitter), as netem without a table.
func (f *fates) hold(direction int, connection uint16, n uint32) time.Duration {
	jitter := f.plan.more.JitterNS
	if jitter == 0 {
		return f.plan.delay
	}
	off, _ := bits.Mul64(f.d.draw(drawJitter, direction, connection, n), uint64(2*jitter))
	return f.plan.delay - jitter + time.Duration(off)
}

// rate is the rate in force, in bit/s; 0: none.
func (f *fates) rate(nowNS int64) int64 {
	rate := f.plan.more.RateBitPerS
	for _, s := range f.plan.more.Steps.Used() {
		if nowNS >= int64(s.AfterNS) {
			rate = s.RateBitPerS
		}
	}
	return rate
}

// sendNS is how long a packet keeps a link of that rate.
func sendNS(bytes int, bitPerS int64) int64 {
	return int64(bytes) * bitsPerByte * int64(time.Second) / bitPerS
}

// orderly says whether every queue lets its packets go in the order they came.
func orderly(m matrix.Impairment) bool {
	return m.ReorderPPM == 0 && (m.JitterNS == 0 || m.RateBitPerS > 0)
}
