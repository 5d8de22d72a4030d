package core

import "transportbench/transports/raknet/internal/codec"

// receiver is the half of a session that receives.
type receiver struct {
	numbers  recent
	reliable window

	acks      []codec.Range // to be acknowledged
	ackFrames int
	ackSince  int64 // first of them
	ackUrgent bool  // the peer can learn of a loss from them
	missing   []gap

	ready      ring
	readyBytes int
	heldBytes  int // messages ahead of their turn and unfinished splits
	splits     []*split
	splitDue   int64 // no split expires before this; 0: there is none
}

func (r *receiver) init() { r.reliable.init() }

// onFrames takes one datagram of frames. All of it is checked before any of it counts, and what is not taken is not acknowledged.
func (s *Session) onFrames(now int64, b []byte) error {
	number, frames, err := codec.Datagram(b)
	if err != nil {
		return err
	}
	count, user, err := s.inspect(frames)
	if err != nil {
		return err
	}
	s.suspectNS = 0
	if user && s.full() {
		s.Stats.Dropped++
		return nil
	}
	s.noteAck(now, number, count)
	if s.numbers.seen(number) {
		s.ackUrgent = true // the acknowledgement was lost
		s.Stats.Duplicates++
		return nil
	}
	old := s.numbers.old(number)
	if !old {
		s.noteNumber(now, number)
	}
	var f codec.Frame
	for len(frames) > 0 && s.phase != closed {
		frames, _ = f.Decode(frames)
		if !old || f.IsReliable() {
			s.onFrame(now, &f)
		}
	}
	return nil
}

// inspect decodes all frames without effect and says whether any of them is for the application.
func (s *Session) inspect(b []byte) (count int, user bool, err error) {
	var f codec.Frame
	for ; len(b) > 0; count++ {
		if b, err = f.Decode(b); err != nil {
			return 0, false, err
		}
		if f.IsReliable() && !s.reliable.within(f.Index, reliableWindow) {
			return 0, false, codec.ErrInvalid
		}
		if f.Channel >= Channels || f.SplitCount > MaxFragments {
			return 0, false, codec.ErrInvalid
		}
		user = user || f.Split || f.Body[0] >= codec.IDUser
	}
	return count, user, nil
}

// full says that the application is too far behind to take more.
func (s *Session) full() bool {
	return s.phase != closing && (s.ready.n >= readyMessages || s.readyBytes >= readyBytes)
}

func (s *Session) noteNumber(now int64, number uint32) {
	late := codec.Less24(number, s.numbers.next)
	from := s.numbers.next
	skipped := s.numbers.mark(number)
	switch {
	case late:
		s.found(number)
	case skipped > 0:
		if skipped > recentNumbers {
			from = (number - recentNumbers) & codec.Mask24
		}
		s.ackUrgent = true
		s.miss(now, codec.Range{First: from, Last: (number - 1) & codec.Mask24})
	}
}

func (s *Session) onFrame(now int64, f *codec.Frame) {
	if f.IsReliable() {
		if s.reliable.seen(f.Index) {
			s.Stats.Duplicates++
			return
		}
		s.reliable.mark(f.Index)
	}
	body, pooled := f.Body, false
	if f.Split {
		if body = s.join(now, f); body == nil {
			return
		}
		pooled = true
	}
	switch {
	case f.IsOrdered():
		s.onOrdered(now, f, body, pooled)
	case f.IsSequenced():
		s.onSequenced(now, f, body, pooled)
	default:
		s.deliver(now, body, pooled)
	}
}

// deliver hands a message to the application or to the protocol. A pooled body becomes the receiver's.
func (s *Session) deliver(now int64, body []byte, pooled bool) {
	if body[0] < codec.IDUser {
		s.onControl(now, body)
	} else if s.phase != closing {
		if !pooled {
			body = s.copied(body)
		}
		s.Stats.Received++
		s.Stats.ReceivedBytes += uint64(len(body))
		s.readyBytes += len(body) + FrameCharge
		s.ready.push(body)
		return
	}
	if pooled {
		s.pool.Put(body)
	}
}

func (s *Session) copied(b []byte) []byte {
	c := s.pool.Get(len(b))
	copy(c, b)
	return c
}

// Unread is the number of messages that Pop has ready.
func (s *Session) Unread() int { return s.ready.n }

// Pop returns the next message. The caller gives its buffer back to the pool.
func (s *Session) Pop() ([]byte, bool) {
	if s.ready.n == 0 {
		return nil, false
	}
	b := s.ready.pop()
	s.readyBytes -= len(b) + FrameCharge
	return b, true
}

// Peek returns the message that Pop would return; there must be one.
func (s *Session) Peek() []byte { return s.ready.buf[s.ready.head] }

// ring is a queue of messages.
type ring struct {
	buf     [][]byte
	head, n int
}

func (r *ring) push(b []byte) {
	if r.n == len(r.buf) {
		grown := make([][]byte, max(8, 2*len(r.buf)))
		for i := range r.n {
			grown[i] = r.buf[(r.head+i)&(len(r.buf)-1)]
		}
		r.buf, r.head = grown, 0
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = b
	r.n++
}

func (r *ring) pop() []byte {
	b := r.buf[r.head]
	r.buf[r.head] = nil
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return b
}
