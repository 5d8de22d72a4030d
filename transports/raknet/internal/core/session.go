package core

import (
	"net/netip"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

type phase uint8

const (
	waiting   phase = iota // handshake inside the connection is under way
	connected              // messages flow
	closing                // our notice is on its way
	closed
)

// Never is the deadline of a session that waits for nothing.
const Never = int64(1<<63 - 1)

// Session is one connection. It is not safe for concurrent use: the shard's lock guards it.
// Times are in ns of any monotonic clock, the same for all calls.
type Session struct {
	cfg  *Config
	pool *Pool
	peer netip.AddrPort

	phase phase
	err   error // why the session ended
	mtu   int

	sender
	receiver

	channel0 channel
	channels [Channels]*channel

	startNS   int64
	heardNS   int64 // last valid datagram of the peer
	pingNS    int64 // last ping sent
	suspectNS int64 // end of the probe after a notice that anyone could have forged; 0: none
	closeNS   int64 // when closing gives up
	Stats     Stats
}

// New starts a session with the nominal MTU, IP and UDP headers included. A client must be told to Start.
func New(cfg *Config, pool *Pool, peer netip.AddrPort, mtu int, now int64) *Session {
	s := &Session{cfg: cfg, pool: pool, peer: peer, mtu: mtu, startNS: now, heardNS: now, pingNS: now}
	s.sender.init()
	s.receiver.init()
	s.channels[0] = &s.channel0
	return s
}

// channel is the state of one order channel, both directions.
type channel struct {
	sendOrder, sendSequence uint32
	wantOrder, wantSequence uint32
	held                    [][]byte // ring of messages ahead of wantOrder, by order index
	count                   int
}

func (s *Session) channel(c uint8) *channel {
	if s.channels[c] == nil {
		s.channels[c] = new(channel)
	}
	return s.channels[c]
}

// MTU is the nominal MTU in bytes.
func (s *Session) MTU() int { return s.mtu }

// payload is the largest UDP payload of the session.
func (s *Session) payload() int { return s.mtu - codec.UDPOverhead }

// single is the largest message that travels in one frame, and the size of a fragment.
func (s *Session) single() int { return s.mtu - 60 }

// Connected says whether the handshake is over and neither side has closed.
func (s *Session) Connected() bool { return s.phase == connected }

// Done says whether the session may be forgotten.
func (s *Session) Done() bool { return s.phase == closed }

// Err is why the session ended or is ending; nil while it lives.
func (s *Session) Err() error { return s.err }

// Receive takes one datagram of the peer. The datagram is not kept.
func (s *Session) Receive(now int64, b []byte) {
	if s.phase == closed || len(b) == 0 {
		return
	}
	s.Stats.DatagramsIn++
	var err error
	switch {
	case b[0]&codec.FlagValid == 0:
		if len(b) == 1 && b[0] == codec.IDDisconnect {
			s.Suspect(now)
		}
		return
	case b[0]&codec.FlagAck != 0:
		err = s.onAcks(now, b, true)
	case b[0]&codec.FlagNack != 0:
		err = s.onAcks(now, b, false)
	default:
		err = s.onFrames(now, b)
	}
	if err != nil {
		s.Stats.Malformed++
		return
	}
	s.heardNS = now
}

// Suspect doubts that the peer is still there, for a reason that a stranger could have forged: the peer is asked, and the session
// ends unless it answers within a second.
func (s *Session) Suspect(now int64) {
	if s.phase != connected || s.suspectNS != 0 {
		return
	}
	s.suspectNS = now + int64(suspectTime)
	s.sendPing(now)
}

// Close sends what is queued and then a notice to the peer, and gives up after the linger time.
func (s *Session) Close(now int64) {
	switch s.phase {
	case connected:
		s.phase, s.err = closing, ErrClosed
		s.closeNS = now + int64(s.cfg.Linger)
		s.control(codec.ReliableOrdered, []byte{codec.IDDisconnect})
	case waiting:
		s.end(ErrClosed)
	}
}

// Abort ends the session at once and frees what it holds but unread messages.
func (s *Session) Abort(err error) { s.end(err) }

func (s *Session) end(err error) {
	if s.phase == closed {
		return
	}
	if s.err == nil {
		s.err = err
	}
	s.phase = closed
	s.release(s.pool)
	s.dropHeld()
}

// Deadline is when Tick wants to be called, not counting acknowledgements; Never if there is no need.
func (s *Session) Deadline() int64 {
	switch s.phase {
	case closed:
		return Never
	case waiting:
		return min(s.startNS+int64(s.cfg.Handshake), s.retryNS, s.nackNS())
	case closing:
		return min(s.closeNS, s.retryNS)
	}
	next := min(s.retryNS, s.nackNS(), s.splitNS())
	if s.suspectNS != 0 {
		next = min(next, s.suspectNS)
	}
	quiet := max(s.heardNS, s.pingNS) + int64(s.cfg.PingEvery)
	return min(next, quiet, s.heardNS+int64(s.cfg.Timeout))
}

// Tick does what is due: timeouts, pings, expiry. What is to be sent comes from Output.
func (s *Session) Tick(now int64) {
	if now >= s.retryNS {
		s.expire(now)
	}
	switch s.phase {
	case waiting:
		if now >= s.startNS+int64(s.cfg.Handshake) {
			s.end(ErrTimeout)
		}
	case closing:
		if now >= s.closeNS {
			s.end(ErrClosed)
		}
	case connected:
		s.tickConnected(now)
	}
}

func (s *Session) tickConnected(now int64) {
	if now >= s.heardNS+int64(s.cfg.Timeout) {
		s.end(ErrTimeout)
		return
	}
	if s.suspectNS != 0 && now >= s.suspectNS {
		s.end(ErrPeerGone)
		return
	}
	if now >= max(s.heardNS, s.pingNS)+int64(s.cfg.PingEvery) {
		s.sendPing(now)
	}
	if now >= s.splitNS() {
		s.expireSplits(now)
	}
}

func (s *Session) sendPing(now int64) {
	s.pingNS = now
	s.control(codec.Unreliable, codec.ConnPing{Time: now / int64(time.Millisecond)}.Append(nil))
}
