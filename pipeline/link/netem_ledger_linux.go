package link

import (
	"errors"
	"time"
)

// ledger splits the qdisc's drops by direction as sent minus arrived; where that does not add up, it returns one direction.
func (b *netemBackend) ledger() (ledger, error) {
	if err := b.steps.failed(); err != nil {
		return ledger{}, err
	}
	whole, err := b.drained()
	if err != nil || b.table == nil {
		return ledger{[]Direction{b.overflowing(whole)}, -1, -1}, err
	}
	n, err := b.table.packets()
	if err != nil {
		return ledger{}, err
	}
	l := ledger{overSent: n[overSent], overLo: n[overLo]}
	var dropped, sent, seen int64
	for i, name := range directionNames {
		d := Direction{Name: name, Seen: n["sent-"+name], Dropped: n["sent-"+name] - n["seen-"+name]}
		sent, seen, dropped = sent+d.Seen, seen+n["seen-"+name], dropped+d.Dropped
		if i != other || d.Seen > 0 {
			l.directions = append(l.directions, b.overflowing(d))
		}
	}
	if b.plan.more.DuplicatePPM > 0 {
		whole.Duplicated = seen - sent + whole.Dropped
		whole.Seen -= whole.Duplicated
	}
	if dropped != whole.Dropped {
		l.directions = []Direction{b.overflowing(whole)}
	}
	return l, nil
}

// overflowing books drops as overflow where nothing is lost on purpose: then the queue of a link with a rate was full.
func (b *netemBackend) overflowing(d Direction) Direction {
	if b.plan.more.RateBitPerS > 0 && b.plan.lossPPM == 0 && !b.plan.more.Burst.On() {
		d.Dropped, d.Overflow = 0, d.Dropped
	}
	return d
}

// drained waits until no packet is in flight, at most a little over one delay, and returns the totals of the qdisc.
func (b *netemBackend) drained() (Direction, error) {
	deadline := time.Now().Add(b.plan.delay + b.plan.more.JitterNS + 20*time.Millisecond)
	for {
		q, _, err := b.root()
		if err != nil {
			return Direction{}, err
		}
		if !q.counted {
			return Direction{}, errors.New("netem on lo shows no statistics")
		}
		if q.waiting == 0 || time.Now().After(deadline) {
			return Direction{Name: bothDirections, Seen: q.packets + q.dropped, Dropped: q.dropped}, nil
		}
		time.Sleep(time.Millisecond)
	}
}
