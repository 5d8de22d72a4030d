package linksim

import "time"

// million is the scale of the shares in a Path: parts per million.
const million = 1_000_000

// DefaultQueuePackets bounds a direction whose Path does not say otherwise. It is above every window of the published plan.
const DefaultQueuePackets = 4096

// Path is what one direction does to its datagrams. The zero value delivers everything at once and in order.
type Path struct {
	LossPPM      int           // share of datagrams dropped
	DuplicatePPM int           // share of datagrams delivered twice; the copy draws its own delay
	ReorderPPM   int           // share of copies held back by ReorderBy, so that later ones overtake them
	ReorderBy    time.Duration // extra delay of those copies
	Delay        time.Duration // one way
	Jitter       time.Duration // every copy waits a uniform share of this in addition; reorders when larger than the spacing
	QueuePackets int           // datagrams held, in flight and unread; 0: DefaultQueuePackets; more are dropped
	Blackouts    []Span        // everything sent inside a span is dropped
}

// Span is a period since the start of the Network: From is inside, Until is not.
type Span struct {
	From, Until time.Duration
}

// blackedOut reports whether a datagram sent at this time since the start falls into a blackout.
func (p *Path) blackedOut(since time.Duration) bool {
	for _, s := range p.Blackouts {
		if since >= s.From && since < s.Until {
			return true
		}
	}
	return false
}

// queue is the bound in datagrams.
func (p *Path) queue() int {
	if p.QueuePackets > 0 {
		return p.QueuePackets
	}
	return DefaultQueuePackets
}
