package core

import "transportbench/transports/raknet/internal/codec"

// sender is the half of a session that sends.
type sender struct {
	nextNumber uint32 // datagram number
	nextIndex  uint32 // reliable index
	lowIndex   uint32 // oldest reliable index that may be unacknowledged
	nextSplit  uint16

	fresh      frameList // reliable, not yet sent
	unreliable frameList
	retries    frameList // to be sent again
	flight     frameList // sent, in order of their datagram numbers

	byIndex []*frame // frames in flight or in retries, by reliable index
	sent    []sentEntry

	buffered     int // charged bytes of reliable frames queued and unacknowledged
	loose        int // charged bytes of unreliable frames queued
	flightBytes  int // encoded bytes of reliable frames sent and unacknowledged
	late         int // frames unacknowledged after a timeout
	newestAcked  uint32
	ackedAny     bool
	tolerance    int32 // datagrams that may overtake one before it counts as lost
	srttNS       int64
	rttvarNS     int64
	rtoNS        int64
	retryNS      int64 // no frame times out before this
	packing      bool  // a batch call with small messages was made
	packDisabled bool  // and a loss was seen: never again
	policy       Policy
	lane         int // where the next scheduled flush starts
}

func (t *sender) init() {
	t.srttNS, t.rtoNS = int64(initialTimeout), int64(initialTimeout)
	t.retryNS = Never
	t.byIndex = make([]*frame, 16)
	t.sent = make([]sentEntry, 32)
}

func (t *sender) release(p *Pool) {
	for _, l := range []*frameList{&t.fresh, &t.unreliable, &t.retries, &t.flight} {
		for f := l.pop(); f != nil; f = l.pop() {
			p.putFrame(f)
		}
	}
	t.byIndex, t.sent = nil, nil
	t.buffered, t.loose, t.flightBytes = 0, 0, 0
	t.retryNS = Never
}

// Message is what is to be sent.
type Message struct {
	Body    []byte
	Mode    codec.Reliability
	Channel uint8
	Owned   bool // Body stays as it is until the peer has acknowledged it; no copy is made
}

// Check refuses messages that can never be sent.
func (s *Session) Check(m *Message) error {
	switch {
	case len(m.Body) == 0:
		return ErrEmpty
	case m.Body[0] < codec.IDUser:
		return ErrReserved
	case m.Mode > codec.ReliableSequenced || m.Channel >= Channels:
		return ErrChannel
	case len(m.Body) <= s.single():
		return nil
	case m.Mode != codec.ReliableOrdered || len(m.Body) > MaxMessage-s.fragments(len(m.Body))*FrameCharge:
		return ErrTooLarge
	case s.fragments(len(m.Body)) > MaxFragments:
		return ErrTooLarge
	}
	return nil
}

func (s *Session) fragments(n int) int { return (n + s.single() - 1) / s.single() }

func (s *Session) charge(n int) int {
	if n <= s.single() {
		return n + FrameCharge
	}
	return n + FrameCharge*s.fragments(n)
}

// Admits says whether m fits into the send buffer now.
func (s *Session) Admits(m *Message) bool {
	need := s.charge(len(m.Body))
	if s.policy.InFlightFrames != 0 {
		return s.policyAdmits(m.Mode, need)
	}
	used := s.buffered + s.loose
	return used+need <= max(SoftBuffer, need)
}

// HasRoom says that waiting senders should try again: a quarter of the buffer is free. Woken for every frame that is acknowledged, a
// sender would run for one message at a time.
func (s *Session) HasRoom() bool {
	p := &s.policy
	if p.InFlightFrames != 0 {
		return 4*s.buffered <= 3*p.ReliableQueueBytes || 4*s.loose <= 3*p.UnreliableQueueBytes
	}
	return 4*(s.buffered+s.loose) <= 3*SoftBuffer
}

// Send queues m; Output sends it. It returns ErrWouldBlock when the buffer is full and the session's error once it has ended.
func (s *Session) Send(m *Message) error {
	if s.phase != connected {
		return s.sendError()
	}
	if err := s.Check(m); err != nil {
		return err
	}
	if !s.Admits(m) {
		return ErrWouldBlock
	}
	s.queue(m)
	s.Stats.Sent++
	s.Stats.SentBytes += uint64(len(m.Body))
	return nil
}

func (s *Session) sendError() error {
	if s.err != nil {
		return s.err
	}
	return ErrWouldBlock // the handshake is not over
}

// control queues a message of the protocol itself, which needs no admission.
func (s *Session) control(mode codec.Reliability, body []byte) {
	s.queue(&Message{Body: body, Mode: mode})
}

func (s *Session) queue(m *Message) {
	f := codec.Frame{Mode: m.Mode, Channel: m.Channel}
	if m.Mode != codec.Unreliable && m.Mode != codec.Reliable {
		c := s.channel(m.Channel)
		f.Order = c.sendOrder
		if m.Mode == codec.ReliableOrdered {
			c.sendOrder = (c.sendOrder + 1) & codec.Mask24
		} else {
			f.Sequence = c.sendSequence
			c.sendSequence = (c.sendSequence + 1) & codec.Mask24
		}
	}
	if len(m.Body) <= s.single() {
		s.enqueue(&f, m.Body, m.Owned)
		return
	}
	f.Split, f.SplitID = true, s.nextSplit
	f.SplitCount = uint32(s.fragments(len(m.Body)))
	s.nextSplit++
	for rest := m.Body; len(rest) > 0; f.SplitIndex++ {
		n := min(len(rest), s.single())
		s.enqueue(&f, rest[:n], m.Owned)
		rest = rest[n:]
	}
}

// enqueue gives one frame its reliable index and a place in a queue.
func (s *Session) enqueue(h *codec.Frame, body []byte, owned bool) {
	f := s.pool.getFrame()
	f.reliable = h.IsReliable()
	f.fragment, f.later = h.Split, h.Split && h.SplitIndex > 0
	f.packable = h.Mode == codec.ReliableOrdered && !h.Split
	f.charge = int32(len(body) + FrameCharge)
	if f.reliable {
		h.Index, f.index = s.nextIndex, s.nextIndex
		s.nextIndex = (s.nextIndex + 1) & codec.Mask24
	}
	room := codec.DatagramHeader + codec.HeaderSize(h.Mode, h.Split)
	if owned {
		f.head, f.tail = s.pool.Get(room), body
	} else {
		f.head = s.pool.Get(room + len(body))
		copy(f.head[room:], body)
	}
	h.AppendHeader(f.head[:codec.DatagramHeader], len(body))
	if f.reliable {
		s.buffered += int(f.charge)
		s.fresh.push(f)
		return
	}
	s.loose += int(f.charge)
	s.unreliable.push(f)
}

// StartPacking is called once per batch call: small neighbours switch packing on for the life of the session, or until a loss.
func (s *Session) StartPacking(msgs [][]byte) {
	if s.packing || s.packDisabled {
		return
	}
	for i := 1; i < len(msgs); i++ {
		a, b := len(msgs[i-1]), len(msgs[i])
		if a <= s.single() && b <= s.single() && a+b+24 <= s.payload() {
			s.packing = true
			return
		}
	}
}

// Unsent says whether anything is queued or unacknowledged.
func (s *Session) Unsent() bool { return s.buffered+s.loose > 0 }
