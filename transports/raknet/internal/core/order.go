package core

import "transportbench/transports/raknet/internal/codec"

// onOrdered delivers body if it is the next of its channel, with those that waited for it, and holds it if it is early.
func (s *Session) onOrdered(now int64, f *codec.Frame, body []byte, pooled bool) {
	c := s.channel(f.Channel)
	ahead := codec.Diff24(f.Order, c.wantOrder)
	if ahead == 0 {
		c.wantOrder = (c.wantOrder + 1) & codec.Mask24
		s.deliver(now, body, pooled)
		s.deliverHeld(now, c)
		return
	}
	if ahead < 0 || ahead >= reorderWindow || !s.hold(c, f.Order, int(ahead), body, pooled) {
		s.Stats.Duplicates++
		if pooled {
			s.pool.Put(body)
		}
	}
}

// hold keeps a message until its turn; false means that its place is taken.
func (s *Session) hold(c *channel, order uint32, ahead int, body []byte, pooled bool) bool {
	size := len(c.held)
	for size <= ahead {
		size = max(16, 2*size)
	}
	if size > len(c.held) {
		s.growHeld(c, size)
	}
	slot := &c.held[int(order)&(len(c.held)-1)]
	if *slot != nil {
		return false
	}
	if !pooled {
		body = s.copied(body)
	}
	*slot = body
	c.count++
	s.charged(len(body) + FrameCharge)
	return true
}

func (s *Session) growHeld(c *channel, size int) {
	held := make([][]byte, size)
	for i := range len(c.held) {
		v := int(c.wantOrder) + i
		held[v&(size-1)] = c.held[v&(len(c.held)-1)]
	}
	s.charged((size - len(c.held)) * bytesPerSlot)
	c.held = held
}

// bytesPerSlot is the size of a slice header.
const bytesPerSlot = 24

func (s *Session) deliverHeld(now int64, c *channel) {
	for c.count > 0 && s.phase != closed {
		slot := &c.held[int(c.wantOrder)&(len(c.held)-1)]
		body := *slot
		if body == nil {
			return
		}
		*slot = nil
		c.count--
		s.heldBytes -= len(body) + FrameCharge
		c.wantOrder = (c.wantOrder + 1) & codec.Mask24
		s.deliver(now, body, true)
	}
}

// onSequenced delivers body unless a newer one of its channel was delivered before.
func (s *Session) onSequenced(now int64, f *codec.Frame, body []byte, pooled bool) {
	c := s.channel(f.Channel)
	if codec.Diff24(f.Sequence, c.wantSequence) < 0 {
		s.Stats.Duplicates++
		if pooled {
			s.pool.Put(body)
		}
		return
	}
	c.wantSequence = (f.Sequence + 1) & codec.Mask24
	s.deliver(now, body, pooled)
}

// charged counts memory that the peer makes us hold, and ends the session when it is too much.
func (s *Session) charged(n int) {
	if s.heldBytes += n; s.heldBytes > heldLimit {
		s.end(ErrViolation)
	}
}

// dropHeld frees everything that waits for something that will not come.
func (s *Session) dropHeld() {
	for _, c := range s.channels {
		if c == nil {
			continue
		}
		for _, b := range c.held {
			if b != nil {
				s.pool.Put(b)
			}
		}
		c.held, c.count = nil, 0
	}
	for _, g := range s.splits {
		g.free(s.pool)
	}
	s.splits, s.splitDue, s.heldBytes = nil, 0, 0
}
