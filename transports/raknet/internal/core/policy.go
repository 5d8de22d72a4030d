package core

import "transportbench/transports/raknet/internal/codec"

// SetPolicy bounds queue and flight; the zero Policy takes the bounds away. It must be Valid for the session's MTU.
func (s *Session) SetPolicy(p Policy) { s.policy = p }

// Policy returns what SetPolicy has set.
func (s *Session) Policy() Policy { return s.policy }

// policyAdmits keeps two budgets: a soft one for reliable data, which one larger message may enter when it is empty, and a reserve
// for unreliable data that reliable data cannot take.
func (s *Session) policyAdmits(mode codec.Reliability, need int) bool {
	if mode < codec.Reliable {
		return s.loose+need <= s.policy.UnreliableQueueBytes
	}
	return s.buffered+need <= s.policy.ReliableQueueBytes || s.buffered == 0 && need <= HardBuffer-s.policy.UnreliableQueueBytes
}

// scheduled says whether the flush has to share its budget between lanes. With the published preset and reliable data only it
// never has to, and the original flush is used.
func (s *Session) scheduled() bool {
	return s.policy.InFlightFrames != 0 &&
		(s.policy != DefaultPolicy() || s.unreliable.n > 0 || FlightFrames*s.mtu > s.policy.FlushBytes)
}

const lanes = 3

// scheduledFlush serves unreliable frames, retransmissions and new frames in rotation, four MTU a turn, within the flush budget.
func (s *Session) scheduledFlush(now int64, o *Outbox) {
	budget := s.policy.FlushBytes
	for idle := 0; idle < lanes; {
		spent := s.serve(s.lane, min(4*s.mtu, budget), now, o)
		s.lane = (s.lane + 1) % lanes
		budget -= spent
		if idle++; spent > 0 {
			idle = 0
		}
	}
	if s.retries.n+s.unreliable.n > 0 || s.fresh.n > 0 && s.roomInFlight() {
		s.retryNS = min(s.retryNS, now+int64(minTimeout)) // the rest has its turn then, if nothing happens before
	}
}

// serve sends from one lane what fits into quantum bytes and returns how many it sent.
func (s *Session) serve(lane, quantum int, now int64, o *Outbox) (spent int) {
	for {
		l := [lanes]*frameList{&s.unreliable, &s.retries, &s.fresh}[lane]
		if l.n == 0 || spent+l.head.size() > quantum {
			return spent
		}
		if lane < lanes-1 {
			spent += l.head.size()
			s.transmit(now, l.pop(), o)
			continue
		}
		if !s.roomInFlight() {
			return spent
		}
		before := s.flightBytes
		s.transmitFresh(now, o)
		spent += s.flightBytes - before
	}
}
