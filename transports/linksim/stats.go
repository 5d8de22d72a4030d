package linksim

// Stats counts the datagrams of one direction.
type Stats struct {
	Sent        int64 // handed to WriteTo
	Duplicated  int64 // extra copies made
	Lost        int64 // dropped by LossPPM
	BlackedOut  int64 // dropped by a blackout
	Overflowed  int64 // copies dropped because the direction held QueuePackets
	Unreachable int64 // copies sent to an address nobody listens on, or unread when it was closed
	Delivered   int64 // copies read by the receiver
	Reordered   int64 // delivered copies that a later datagram had overtaken
	Queued      int64 // copies in flight or unread
}

// add sums two directions.
func (s Stats) add(o Stats) Stats {
	return Stats{
		Sent: s.Sent + o.Sent, Duplicated: s.Duplicated + o.Duplicated, Lost: s.Lost + o.Lost,
		BlackedOut: s.BlackedOut + o.BlackedOut, Overflowed: s.Overflowed + o.Overflowed,
		Unreachable: s.Unreachable + o.Unreachable, Delivered: s.Delivered + o.Delivered,
		Reordered: s.Reordered + o.Reordered, Queued: s.Queued + o.Queued,
	}
}
