//go:build linux

package raknet

import (
	"fmt"
	"time"

	"transportbench/transports/raknet/internal/core"
)

// SendPolicy bounds what one connection queues and sends at once, in bytes unless said otherwise. It concerns only this side.
type SendPolicy struct {
	InFlightFrames       int // reliable frames sent and unacknowledged, 1 to 4,096
	InFlightBytes        int // of these, headers included
	ReliableQueueBytes   int // soft budget of reliable data queued and unacknowledged, each frame charged 128 bytes extra
	UnreliableQueueBytes int // reserve that only unreliable data may use
	FlushBytes           int // bytes that one flush may send before other work has its turn
}

// DefaultSendPolicy is the published preset: 64 frames, 64 MiB, 256 KiB, 64 KiB and 256 KiB.
func DefaultSendPolicy() SendPolicy { return SendPolicy(core.DefaultPolicy()) }

// SetSendPolicy sets the policy; nil takes it away. Without one the flight limit is 64 frames and the buffer 256 KiB.
func (c *Conn) SetSendPolicy(p *SendPolicy) error {
	c.sh.mu.Lock()
	defer c.sh.mu.Unlock()
	var q core.Policy
	if p != nil {
		if q = core.Policy(*p); !q.Valid(c.s.MTU()) {
			return fmt.Errorf("%w: send policy %+v with MTU %d", ErrOption, *p, c.s.MTU())
		}
	}
	c.s.SetPolicy(q)
	c.sh.wakeReady(c)
	return nil
}

// SendPolicy returns the policy in force; ok is false when there is none.
func (c *Conn) SendPolicy() (p SendPolicy, ok bool) {
	c.sh.mu.Lock()
	defer c.sh.mu.Unlock()
	q := c.s.Policy()
	return SendPolicy(q), q.InFlightFrames != 0
}

// Stats are the counters of a connection and the present state of its queues.
type Stats struct {
	Sent, Received             uint64 // messages
	SentBytes, ReceivedBytes   uint64 // payload
	Datagrams, DatagramsIn     uint64 // DatagramsIn counts acknowledgements too, Datagrams does not
	Frames                     uint64 // first transmissions
	Resent, Timeouts           uint64 // frames sent again; of these because no answer came
	Acked, Nacked              uint64 // frames
	AcksSent, NacksSent        uint64 // datagrams
	Duplicates                 uint64 // seen before
	Packed                     uint64 // messages that shared a datagram
	Spurious                   uint64 // retransmissions that turned out needless
	Dropped                    uint64 // datagrams refused because the application reads too slowly
	Malformed                  uint64 // datagrams
	RTT, RTO, PingRTT          time.Duration
	Queued, InFlight, Buffered int // frames waiting, frames unacknowledged, bytes of both as charged
	Unread                     int // messages
	Packing                    bool
}

// Stats returns the counters of c.
func (c *Conn) Stats() Stats {
	c.sh.mu.Lock()
	defer c.sh.mu.Unlock()
	return Stats(c.s.Snapshot())
}

// Syscalls is the number of system calls that the shard of c has made to send and receive, for all its connections.
func (c *Conn) Syscalls() int64 {
	c.sh.mu.Lock()
	defer c.sh.mu.Unlock()
	return c.sh.tx.Calls.Load() + c.sh.pollerTx.Calls.Load() + c.sh.rx.Calls + c.sh.wait.Calls
}
