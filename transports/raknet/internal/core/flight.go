package core

import "transportbench/transports/raknet/internal/codec"

// sentEntry remembers what a datagram number carried: n reliable frames from index on. Entries of earlier transmissions stay until
// their slot is needed, so that a late acknowledgement still counts.
type sentEntry struct {
	number, index uint32
	sentNS        int64
	n             uint16
}

const maxSent = 4096

// number files the next datagram number under the reliable frames that it carries.
func (s *Session) number(now int64, index uint32, n int) {
	e := &s.sent[int(s.nextNumber)&(len(s.sent)-1)]
	for s.inUse(e) && len(s.sent) < maxSent {
		s.growSent()
		e = &s.sent[int(s.nextNumber)&(len(s.sent)-1)]
	}
	*e = sentEntry{s.nextNumber, index, now, uint16(n)}
	s.countNumber()
}

// inUse says whether e is the latest transmission of a frame that is still unacknowledged.
func (s *Session) inUse(e *sentEntry) bool {
	if e.n == 0 {
		return false
	}
	for i := range uint32(e.n) {
		if f := s.frameAt((e.index + i) & codec.Mask24); f != nil && f.number == e.number {
			return true
		}
	}
	return false
}

func (s *Session) growSent() {
	old := s.sent
	s.sent = make([]sentEntry, 2*len(old))
	for _, e := range old {
		if e.n > 0 {
			s.sent[int(e.number)&(len(s.sent)-1)] = e
		}
	}
}

func (s *Session) frameAt(index uint32) *frame {
	f := s.byIndex[int(index)&(len(s.byIndex)-1)]
	if f == nil || f.index != index {
		return nil
	}
	return f
}

// remember makes f findable by its reliable index. The span of indexes is below indexSpan, so the table stays small.
func (s *Session) remember(f *frame) {
	for s.byIndex[int(f.index)&(len(s.byIndex)-1)] != nil {
		old := s.byIndex
		s.byIndex = make([]*frame, 2*len(old))
		for _, g := range old {
			if g != nil {
				s.byIndex[int(g.index)&(len(s.byIndex)-1)] = g
			}
		}
	}
	s.byIndex[int(f.index)&(len(s.byIndex)-1)] = f
}

// onAcks applies one ACK or NACK. However long its ranges are, the work is bounded by the table of datagrams sent.
func (s *Session) onAcks(now int64, b []byte, isAck bool) error {
	acks, err := codec.ParseAck(b)
	if err != nil {
		return err
	}
	newest, any := s.newestAcked, s.ackedAny
	budget := 2 * len(s.sent)
	for r, ok := acks.Next(); ok && budget > 0; r, ok = acks.Next() {
		if r, ok = s.clamp(r); !ok {
			continue
		}
		budget -= r.Len()
		s.applyRange(now, r, isAck)
		if !any || codec.Less24(newest, r.Last) {
			newest, any = r.Last, true
		}
	}
	if isAck && any {
		s.afterAcks(now, newest)
	}
	return nil
}

// clamp cuts r to the numbers that the table of datagrams sent can hold; ok is false if none is left.
func (s *Session) clamp(r codec.Range) (_ codec.Range, ok bool) {
	low := (s.nextNumber - uint32(len(s.sent))) & codec.Mask24
	if codec.Less24(r.First, low) {
		r.First = low
	}
	if !codec.Less24(r.Last, s.nextNumber) { // never sent: an error of the peer, or a forgery
		r.Last = (s.nextNumber - 1) & codec.Mask24
	}
	return r, !codec.Less24(r.Last, r.First) && r.Len() <= len(s.sent)
}

func (s *Session) applyRange(now int64, r codec.Range, isAck bool) {
	for i := range uint32(r.Len()) {
		v := (r.First + i) & codec.Mask24
		e := &s.sent[int(v)&(len(s.sent)-1)]
		if e.n == 0 || e.number != v {
			continue
		}
		if isAck {
			s.onAck(now, e)
		} else {
			s.onNack(e)
		}
	}
}

func (s *Session) onAck(now int64, e *sentEntry) {
	sampled := false
	for i := range uint32(e.n) {
		f := s.frameAt((e.index + i) & codec.Mask24)
		if f == nil {
			continue
		}
		if f.resends == 0 && !sampled {
			s.sample(now - f.sentNS)
			sampled = true
		}
		if f.number != e.number {
			s.noteSpurious(f, now-e.sentNS)
		}
		s.retire(f)
	}
	e.n = 0
}

// sample feeds a round trip into the estimates: srtt = (4 srtt + rtt)/5, and the variation as in RFC 6298, section 2, but only upwards:
// srtt begins at 50 ms, and a path that turns out faster is no reason to wait longer.
func (s *Session) sample(rtt int64) {
	s.rttvarNS = (3*s.rttvarNS + max(rtt-s.srttNS, 0)) / 4
	s.srttNS = (4*s.srttNS + rtt) / 5
	s.setTimeout()
}

// setTimeout makes the timeout 1.5 srtt, at least 50 ms, as other RakNets have it, or srtt and four variations as in RFC 6298 where that
// is more: a queue that fills within one round trip, as in a burst of many connections, would time out everything.
func (s *Session) setTimeout() {
	rto := s.srttNS + max(s.srttNS/2, 4*s.rttvarNS)
	s.rtoNS = min(max(rto, int64(minTimeout)), int64(maxTimeout))
}

// noteSpurious learns from a frame whose original arrived after it had been given up: either the path reorders more than was
// tolerated, or it is slower than the timeout. The number acknowledged says which transmission it was, so the time of the original
// is known, other than in the case that Karn's rule is about; without it a path that has become slower than the timeout would never
// be measured, and everything on it would be sent twice.
func (s *Session) noteSpurious(f *frame, rtt int64) {
	s.Stats.Spurious++
	if f.timeouts == 0 {
		s.tolerance = min(max(s.tolerance*2, 3), maxTolerance)
		return
	}
	if rtt > s.srttNS {
		s.srttNS = rtt
		s.setTimeout()
	}
}

func (s *Session) retire(f *frame) {
	if f.inRetries() {
		s.retries.remove(f)
	} else {
		s.flight.remove(f)
	}
	s.byIndex[int(f.index)&(len(s.byIndex)-1)] = nil
	s.buffered -= int(f.charge)
	s.flightBytes -= f.size()
	s.Stats.Acked++
	if f.timeouts > 0 {
		s.late--
	}
	if f.index == s.lowIndex {
		s.raiseLow()
	}
	s.pool.putFrame(f)
	if s.flight.n == 0 {
		s.retryNS = Never
	}
}

// raiseLow moves lowIndex to the oldest frame in flight or queued for another try.
func (s *Session) raiseLow() {
	end := s.nextIndex
	if s.fresh.head != nil {
		end = s.fresh.head.index
	}
	for s.lowIndex != end && s.frameAt(s.lowIndex) == nil {
		s.lowIndex = (s.lowIndex + 1) & codec.Mask24
	}
}

// afterAcks treats what the newest acknowledged number has overtaken as lost, and gives frames that had to wait long after
// timeouts another chance soon, since the path works again.
func (s *Session) afterAcks(now int64, newest uint32) {
	advanced := !s.ackedAny || codec.Less24(s.newestAcked, newest)
	s.newestAcked, s.ackedAny = newest, true
	if !advanced {
		return
	}
	for f := s.flight.head; f != nil; {
		next := f.next
		ahead := codec.Diff24(newest, f.number)
		if ahead <= 0 {
			break
		}
		if ahead > s.tolerance || f.held {
			s.lose(f)
		}
		f = next
	}
	if s.late == 0 {
		return
	}
	for f := s.flight.head; f != nil; f = f.next {
		f.timeouts = min(f.timeouts, 1)
		if f.timeouts > 0 && f.sentNS+f.timeoutNS > now+s.rtoNS {
			f.timeoutNS = now + s.rtoNS - f.sentNS
			s.retryNS = min(s.retryNS, now+s.rtoNS)
		}
	}
}

func (s *Session) onNack(e *sentEntry) {
	for i := range uint32(e.n) {
		f := s.frameAt((e.index + i) & codec.Mask24)
		if f != nil && f.number == e.number && !f.inRetries() {
			s.lose(f)
		}
	}
}

// lose queues f for another transmission and ends packing.
func (s *Session) lose(f *frame) {
	s.flight.remove(f)
	s.Stats.Nacked++
	s.again(f)
}

func (s *Session) again(f *frame) {
	f.resends++
	f.timeoutNS, f.held = 0, false
	s.packDisabled = true
	s.retries.push(f)
}

// inRetries relies on timeoutNS, which is only zero between two transmissions.
func (f *frame) inRetries() bool { return f.timeoutNS == 0 }

// maxProbes is how many frames of one flight are sent again because of the time alone (two, as in RFC 9002, section 6.2.4).
const maxProbes = 2

// expire queues frames whose time is over and finds the next such time. Of a whole flight that times out only the oldest go again, and
// the others wait for what the acknowledgement says: a queue longer than the timeout would get everything twice, just when it is full.
func (s *Session) expire(now int64) {
	next, probes := Never, s.late
	for f := s.flight.head; f != nil; {
		following := f.next
		switch due := f.sentNS + f.timeoutNS; {
		case due > now:
			next = min(next, due)
		case f.timeouts == 0 && probes >= maxProbes:
			f.held = true
			f.timeoutNS = now + s.rtoNS - f.sentNS
			next = min(next, now+s.rtoNS)
		default:
			if f.timeouts++; int(f.timeouts) > s.cfg.Resends || f.resends > maxResends {
				s.end(ErrDead)
				return
			}
			if f.timeouts == 1 {
				s.late++
				probes++
			}
			s.flight.remove(f)
			s.Stats.Timeouts++
			s.again(f)
		}
		f = following
	}
	s.retryNS = next
}
