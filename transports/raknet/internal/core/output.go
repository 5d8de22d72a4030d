package core

import "transportbench/transports/raknet/internal/codec"

// Output appends what may be sent now: retransmissions, then new frames within the flight limit, then acknowledgements that are due.
// With ackNow every acknowledgement is due. Timeouts are Tick's business: the acknowledgement may have arrived and not been read.
func (s *Session) Output(now int64, o *Outbox, ackNow bool) {
	if s.phase == closed {
		s.lastWords(o)
		return
	}
	if s.retries.n+s.fresh.n+s.unreliable.n > 0 {
		if s.scheduled() {
			s.scheduledFlush(now, o)
		} else {
			s.flush(now, o)
		}
	}
	s.outputAcks(now, o, ackNow)
	if s.phase == closing && s.buffered == 0 {
		s.end(ErrClosed)
	}
}

// flush is the original order: everything to be sent again, then unreliable frames, then new ones while the flight has room.
func (s *Session) flush(now int64, o *Outbox) {
	for f := s.retries.pop(); f != nil; f = s.retries.pop() {
		s.transmit(now, f, o)
	}
	for f := s.unreliable.pop(); f != nil; f = s.unreliable.pop() {
		s.transmit(now, f, o)
	}
	for s.fresh.n > 0 && s.roomInFlight() {
		s.transmitFresh(now, o)
	}
}

// flightFrames counts reliable frames that were sent and are neither acknowledged nor to be sent again.
func (s *Session) roomInFlight() bool {
	limit, bytes := FlightFrames, HardBuffer
	if s.policy.InFlightFrames != 0 {
		limit, bytes = s.policy.InFlightFrames, s.policy.InFlightBytes
	}
	f := s.fresh.head
	return s.flight.n+s.retries.n < limit && s.flightBytes+f.size() <= max(bytes, f.size()) &&
		(f.index-s.lowIndex)&codec.Mask24 < indexSpan
}

// transmitFresh sends the first new frame, with followers in the same datagram if packing is on.
func (s *Session) transmitFresh(now int64, o *Outbox) {
	n := 1
	if s.packing && !s.packDisabled {
		n = s.packable()
	}
	if n == 1 {
		s.transmit(now, s.fresh.pop(), o)
		return
	}
	b := o.scratch(s.payload())
	b = codec.AppendDatagram(b, codec.HeaderFrames, s.nextNumber)
	first := s.fresh.head.index
	for range n {
		f := s.fresh.pop()
		b = append(append(b, f.head[codec.DatagramHeader:]...), f.tail...)
		s.depart(now, f)
	}
	o.commit(b)
	s.Stats.Packed += uint64(n)
	s.number(now, first, n)
}

// packable is how many of the next frames share a datagram.
func (s *Session) packable() int {
	limit := FlightFrames
	if s.policy.InFlightFrames != 0 {
		limit = s.policy.InFlightFrames
	}
	limit = min(s.cfg.MaxPack, limit-s.flight.n-s.retries.n)
	n, size := 0, codec.DatagramHeader
	for f := s.fresh.head; f != nil && f.packable && n < limit; f = f.next {
		if size += f.size(); size > s.payload() || (f.index-s.lowIndex)&codec.Mask24 >= indexSpan {
			break
		}
		n++
	}
	return max(n, 1)
}

// transmit sends f alone.
func (s *Session) transmit(now int64, f *frame, o *Outbox) {
	flags := byte(codec.HeaderFrames)
	if f.later {
		flags = codec.HeaderFragment
	}
	codec.AppendDatagram(f.head[:0], flags, s.nextNumber)
	o.Datagrams = append(o.Datagrams, Datagram{f.head, f.tail})
	if !f.reliable {
		s.loose -= int(f.charge)
		s.Stats.Frames++
		o.spent.push(f)
		s.countNumber()
		return
	}
	s.depart(now, f)
	s.number(now, f.index, 1)
}

// depart notes that f leaves in the datagram with the next number.
func (s *Session) depart(now int64, f *frame) {
	f.number, f.sentNS = s.nextNumber, now
	f.timeoutNS = s.timeoutOf(f)
	s.retryNS = min(s.retryNS, now+f.timeoutNS)
	s.flight.push(f)
	if f.resends > 0 {
		s.Stats.Resent++
		return
	}
	s.Stats.Frames++
	s.flightBytes += f.size()
	s.remember(f)
}

// timeoutOf grows with the timeouts of f while the peer acknowledges nothing, not with its losses: a path that works is tried again soon.
func (s *Session) timeoutOf(f *frame) int64 {
	t := s.rtoNS
	for range f.timeouts {
		if t = t + t/2; t >= int64(maxTimeout) {
			return int64(maxTimeout)
		}
	}
	return t
}

func (s *Session) countNumber() {
	s.nextNumber = (s.nextNumber + 1) & codec.Mask24
	s.Stats.Datagrams++
}

// lastWords sends the acknowledgements of a session that has ended, so that the peer can end as well.
func (s *Session) lastWords(o *Outbox) {
	if len(s.acks) > 0 {
		s.outputAcks(0, o, true)
	}
}
