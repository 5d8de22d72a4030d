//go:build linux

package raknet

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"transportbench/transports/raknet/internal/core"
)

// Sizes of the protocol in bytes, IP and UDP headers included.
const (
	MinMTU     = core.MinMTU
	MaxMTU     = core.MaxMTU
	DefaultMTU = 1400
)

// Channels is the number of order channels of a connection.
const Channels = core.Channels

// Protocol versions.
const (
	Protocol10 = core.ProtocolOld
	Protocol11 = core.ProtocolNew
)

// Tuning holds what both sides can set. The zero value of a field is its default.
type Tuning struct {
	RcvBuf, SndBuf int           // bytes asked of the kernel; 0: a listener asks for 2 MiB to receive, the rest is the kernel's default
	GSO            bool          // send runs of equal datagrams in one segmented call (UDP_SEGMENT), if the kernel can
	Spin           time.Duration // poll so long before sleeping; costs CPU, saves wake-ups
	MaxPack        int           // messages of a batch call that may share a datagram; 0: 8
	Timeout        time.Duration // silence of the peer that ends a connection; 0: 30 s
	PingEvery      time.Duration // silence after which the peer is pinged; 0: 5 s
	AckDelay       time.Duration // longest wait of an acknowledgement; 0: 1 ms, negative: none
	AckFrames      int           // frames after which one is sent at once; 0: 16
	Resends        int           // timeouts of one frame before the peer counts as dead; 0: 16
	Linger         time.Duration // time that Close gives unacknowledged messages in the background; 0: 3 s
}

// DialOptions are the options of Dial. Nil means all defaults.
type DialOptions struct {
	Tuning
	Protocol  byte           // 0: 11
	MTU       int            // exactly this size; 0: the largest of 1492, 1400, 1200, 576 that gets through
	GUID      int64          // 0: random
	LocalAddr netip.AddrPort // zero: any free port
	// Resolve turns a host name into addresses, for example net.DefaultResolver.LookupNetIP with network "ip". Nil: only literal
	// addresses work. It is an option because package net costs every program some hundred KiB of memory.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// ListenOptions are the options of Listen. Nil means all defaults.
type ListenOptions struct {
	Tuning
	Shards       int    // sockets that share the port (SO_REUSEPORT), 1 to 64; 0: 1
	MaxMTU       int    // 0: 1400
	Backlog      int    // connections waiting for Accept; 0: 128. When full, new ones have to try again
	HalfOpen     int    // handshakes under way; 0: 1,024
	NoCookies    bool   // answer handshakes of unproven source addresses, for peers without support for cookies
	PongData     []byte // answer to unconnected pings, at most 477 bytes
	PongsPerAddr int    // a second; 0: 4
	PongsTotal   int    // a second; 0: 256
}

const maxPongData = 512 - 35 // the whole pong stays within 512 bytes

func (t *Tuning) check() error {
	switch {
	case t.RcvBuf < 0 || t.SndBuf < 0:
		return fmt.Errorf("%w: socket buffers must not be negative", ErrOption)
	case t.MaxPack < 0 || t.MaxPack > core.FlightFrames:
		return fmt.Errorf("%w: max pack %d is not in 0..%d", ErrOption, t.MaxPack, core.FlightFrames)
	case t.Spin < 0 || t.Timeout < 0 || t.PingEvery < 0 || t.Linger < 0 || t.AckFrames < 0 || t.Resends < 0:
		return fmt.Errorf("%w: times and counts must not be negative", ErrOption)
	}
	return nil
}

func (t *Tuning) config(client bool, guid int64) core.Config {
	return core.Config{
		Client: client, GUID: guid, MaxPack: t.MaxPack, Timeout: t.Timeout, PingEvery: t.PingEvery,
		AckDelay: t.AckDelay, AckFrames: t.AckFrames, Resends: t.Resends, Linger: t.Linger,
	}.WithDefaults()
}

func (o *DialOptions) withDefaults() (DialOptions, error) {
	var d DialOptions
	if o != nil {
		d = *o
	}
	if d.Protocol == 0 {
		d.Protocol = Protocol11
	}
	if d.GUID == 0 {
		d.GUID = randomGUID()
	}
	switch {
	case d.Protocol != Protocol10 && d.Protocol != Protocol11:
		return d, fmt.Errorf("%w: protocol %d is neither 10 nor 11", ErrOption, d.Protocol)
	case d.MTU != 0 && (d.MTU < MinMTU || d.MTU > MaxMTU):
		return d, fmt.Errorf("%w: MTU %d is not in %d..%d", ErrOption, d.MTU, MinMTU, MaxMTU)
	}
	return d, d.check()
}

func (o *DialOptions) sizes() []int {
	if o.MTU != 0 {
		return []int{o.MTU}
	}
	return []int{1492, 1400, 1200, 576}
}

func (o *ListenOptions) withDefaults() (ListenOptions, error) {
	var l ListenOptions
	if o != nil {
		l = *o
	}
	orDefault(&l.Shards, 1)
	orDefault(&l.MaxMTU, DefaultMTU)
	orDefault(&l.Backlog, 128)
	orDefault(&l.HalfOpen, 1024)
	orDefault(&l.PongsPerAddr, 4)
	orDefault(&l.PongsTotal, 256)
	orDefault(&l.RcvBuf, 2<<20)
	switch {
	case l.Shards < 1 || l.Shards > 64:
		return l, fmt.Errorf("%w: %d shards are not in 1..64", ErrOption, l.Shards)
	case l.MaxMTU < MinMTU || l.MaxMTU > MaxMTU:
		return l, fmt.Errorf("%w: MTU %d is not in %d..%d", ErrOption, l.MaxMTU, MinMTU, MaxMTU)
	case l.Backlog < 1 || l.HalfOpen < 1 || l.PongsPerAddr < 0 || l.PongsTotal < 0:
		return l, fmt.Errorf("%w: limits must be positive", ErrOption)
	case len(l.PongData) > maxPongData:
		return l, fmt.Errorf("%w: pong data of %d bytes is over %d", ErrOption, len(l.PongData), maxPongData)
	}
	return l, l.check()
}

func orDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}
