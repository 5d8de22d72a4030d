package core

import "time"

// Snapshot is the statistics with the present state of the queues.
func (s *Session) Snapshot() Stats {
	st := s.Stats
	st.RTT, st.RTO = time.Duration(s.srttNS), time.Duration(s.rtoNS)
	st.Queued = s.fresh.n + s.unreliable.n + s.retries.n
	st.InFlight = s.flight.n
	st.Buffered = s.buffered + s.loose
	st.Unread = s.ready.n
	st.Packing = s.packing && !s.packDisabled
	return st
}
