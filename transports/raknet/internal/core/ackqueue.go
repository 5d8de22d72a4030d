package core

import (
	"slices"

	"transportbench/transports/raknet/internal/codec"
)

// gap is a run of datagram numbers that did not arrive.
type gap struct {
	codec.Range
	sinceNS int64
}

const maxGaps = 32

// noteAck files a datagram for acknowledgement. Thresholds count frames: counted in datagrams they would hold up a sender whose
// window is counted in frames.
func (s *Session) noteAck(now int64, number uint32, frames int) {
	if len(s.acks) == 0 {
		s.ackSince = now
	}
	s.ackFrames += frames
	if n := len(s.acks); n > 0 {
		last := &s.acks[n-1]
		if (last.Last+1)&codec.Mask24 == number {
			last.Last = number
			return
		}
		if d := codec.Diff24(number, last.First); d >= 0 && codec.Diff24(last.Last, number) >= 0 {
			return
		}
	}
	s.acks = append(s.acks, codec.Range{First: number, Last: number})
}

// AckDue is when the waiting acknowledgements have to go out; Never if there are none.
func (s *Session) AckDue() int64 {
	switch {
	case len(s.acks) == 0:
		return Never
	case s.ackUrgent || s.cfg.AckDelay < 0 || s.ackFrames >= s.cfg.AckFrames || len(s.acks) >= maxAckRanges:
		return 0
	}
	return s.ackSince + int64(s.cfg.AckDelay)
}

func (s *Session) outputAcks(now int64, o *Outbox, all bool) {
	if len(s.acks) > 0 && (all || now >= s.AckDue()) {
		for rest := s.acks; len(rest) > 0; {
			rest = s.outputRanges(o, codec.HeaderAck, rest)
			s.Stats.AcksSent++
		}
		s.acks, s.ackFrames, s.ackUrgent = s.acks[:0], 0, false
	}
	if now >= s.nackNS() {
		s.outputNacks(now, o)
	}
}

func (s *Session) outputRanges(o *Outbox, header byte, ranges []codec.Range) []codec.Range {
	b, rest := codec.AppendAck(o.scratch(s.payload()), header, ranges, s.payload())
	o.commit(b)
	return rest
}

// miss notes numbers that were skipped; the oldest gap is forgotten when there are too many.
func (s *Session) miss(now int64, r codec.Range) {
	if len(s.missing) == maxGaps {
		s.missing = slices.Delete(s.missing, 0, 1)
	}
	s.missing = append(s.missing, gap{r, now})
}

// found takes a number that came late out of its gap.
func (s *Session) found(v uint32) {
	for i := range s.missing {
		g := &s.missing[i]
		if codec.Less24(v, g.First) || codec.Less24(g.Last, v) {
			continue
		}
		switch {
		case g.First == g.Last:
			s.missing = slices.Delete(s.missing, i, i+1)
		case v == g.First:
			g.First = (v + 1) & codec.Mask24
		case v == g.Last:
			g.Last = (v - 1) & codec.Mask24
		default:
			upper := gap{codec.Range{First: (v + 1) & codec.Mask24, Last: g.Last}, g.sinceNS}
			g.Last = (v - 1) & codec.Mask24
			s.missing = slices.Insert(s.missing, i+1, upper)
		}
		return
	}
}

// nackNS is when the oldest gap has lasted long enough to be more than reordering.
func (s *Session) nackNS() int64 {
	if len(s.missing) == 0 {
		return Never
	}
	return s.missing[0].sinceNS + int64(nackDelay)
}

// outputNacks names each gap once.
func (s *Session) outputNacks(now int64, o *Outbox) {
	n := 0
	var ranges [maxGaps + 1]codec.Range
	for n < len(s.missing) && n < len(ranges) && now >= s.missing[n].sinceNS+int64(nackDelay) {
		ranges[n] = s.missing[n].Range
		n++
	}
	for rest := ranges[:n]; len(rest) > 0; {
		rest = s.outputRanges(o, codec.HeaderNack, rest)
		s.Stats.NacksSent++
	}
	s.missing = slices.Delete(s.missing, 0, n)
}
