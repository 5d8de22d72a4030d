package core

import (
	"errors"
	"time"
)

// Errors that end a session.
var (
	ErrClosed    = errors.New("connection is closed")
	ErrPeerGone  = errors.New("peer closed the connection")
	ErrTimeout   = errors.New("peer is silent")
	ErrDead      = errors.New("peer does not acknowledge")
	ErrViolation = errors.New("peer broke the protocol")
	ErrReplaced  = errors.New("peer opened a new connection from the same address")
)

// Errors of one call.
var (
	ErrWouldBlock = errors.New("send buffer is full")
	ErrTooLarge   = errors.New("message is too large for its reliability mode")
	ErrEmpty      = errors.New("message is empty")
	ErrReserved   = errors.New("message starts with a byte below 0x80, which RakNet keeps for itself")
	ErrChannel    = errors.New("order channel is not below 32")
)

// Limits of the protocol and of memory. The values are those that the measured library documents.
const (
	FlightFrames   = 64
	SoftBuffer     = 256 << 10 // send admission, in charged bytes
	HardBuffer     = 64 << 20
	FrameCharge    = 128 // bytes charged beside the payload of a frame
	MaxFragments   = 65536
	MaxMessage     = 64 << 20
	Channels       = 32
	reorderWindow  = 65536 // order indexes ahead of the next expected one
	reliableWindow = 65536
	indexSpan      = 2048 // unacknowledged reliable indexes, first to last
	heldLimit      = 64 << 20
	splitGroups    = 1024
	splitStall     = 60 * time.Second
	readyMessages  = 4096 // unread messages at which frames are refused
	readyBytes     = 1 << 20
	maxAckRanges   = 32
	initialTimeout = 50 * time.Millisecond
	minTimeout     = 50 * time.Millisecond
	maxTimeout     = 12 * time.Second
	nackDelay      = 20 * time.Millisecond
	suspectTime    = time.Second
	maxTolerance   = 64  // datagrams that may overtake one
	maxResends     = 255 // of one frame, even if the peer acknowledges others
)

// Config holds what sessions of one side share. The zero value of a field means its default.
type Config struct {
	Client    bool
	GUID      int64
	MaxPack   int           // messages in one datagram; 0: 8
	Handshake time.Duration // longest time from the first frame to the last message of the handshake; 0: 10 s
	Timeout   time.Duration // silence that ends a session; 0: 30 s
	PingEvery time.Duration // silence after which the peer is asked; 0: 5 s
	Resends   int           // timeouts of one frame before the peer counts as dead; 0: 16, about a minute
	AckFrames int           // frames that force an acknowledgement; 0: 16
	AckDelay  time.Duration // longest wait of an acknowledgement; 0: 1 ms, negative: none
	Linger    time.Duration // longest time that closing waits for acknowledgements; 0: 3 s
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	def(&c.MaxPack, 8)
	def(&c.Handshake, 10*time.Second)
	def(&c.Timeout, 30*time.Second)
	def(&c.PingEvery, 5*time.Second)
	def(&c.Resends, 16)
	def(&c.AckFrames, 16)
	def(&c.AckDelay, time.Millisecond)
	def(&c.Linger, 3*time.Second)
	return c
}

func def[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// Policy bounds what one connection may queue and send at once. The zero value is no policy.
type Policy struct {
	InFlightFrames       int // reliable frames sent and unacknowledged, 1 to 4096
	InFlightBytes        int // of these, headers included
	ReliableQueueBytes   int // soft budget of reliable bytes queued and unacknowledged
	UnreliableQueueBytes int // reserve for unreliable bytes
	FlushBytes           int // encoded bytes that one flush may send
}

// DefaultPolicy is the published preset.
func DefaultPolicy() Policy { return Policy{FlightFrames, HardBuffer, SoftBuffer, 64 << 10, 256 << 10} }

// Valid says whether p can be used with the MTU.
func (p Policy) Valid(mtu int) bool {
	in := func(v, low int) bool { return v >= low && v <= HardBuffer }
	low := max(2048, mtu)
	return p.InFlightFrames >= 1 && p.InFlightFrames <= 4096 && in(p.InFlightBytes, low) && in(p.UnreliableQueueBytes, low) &&
		in(p.FlushBytes, low) && in(p.ReliableQueueBytes, 2048) && p.ReliableQueueBytes+p.UnreliableQueueBytes <= HardBuffer
}

// Stats counts what happened on one connection.
type Stats struct {
	Sent, Received             uint64 // messages
	SentBytes, ReceivedBytes   uint64 // payload
	Datagrams, DatagramsIn     uint64
	Frames                     uint64 // first transmissions
	Resent, Timeouts           uint64 // frames sent again; of these because no answer came
	Acked, Nacked              uint64 // frames
	AcksSent, NacksSent        uint64 // datagrams
	Duplicates                 uint64 // reliable frames or datagrams seen before
	Packed                     uint64 // messages that shared a datagram
	Spurious                   uint64 // retransmissions that turned out needless
	Dropped                    uint64 // datagrams refused because the reader is behind
	Malformed                  uint64
	RTT, RTO, PingRTT          time.Duration
	Queued, InFlight, Buffered int // frames waiting, frames unacknowledged, bytes of both as charged
	Unread                     int // messages
	Packing                    bool
}
