//go:build linux

package udp

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"transportbench/transports/wire"
)

// fault makes one listener wrong on purpose, once, as the servers of transports/echo are: the first connection to reach the
// message in question gets it. A raw UDP client must notice flip alone; the other faults are what an unreliable path does anyway.
type fault struct {
	kind  string
	at    uint64
	shape shape
	spent *atomic.Bool // shared by all listeners

	held   []byte // swap: what goes out after its successor
	holder peer
	cut    peer // whose echoes are no longer sent
	isCut  bool
}

// newFault returns nil when the server is to behave. Its target is the middle of the burst; a swap needs a successor.
func newFault(cfg wire.Config, s shape, spent *atomic.Bool) *fault {
	f := &fault{kind: cfg.Fault, shape: s, spent: spent, at: uint64(cfg.Warmup + cfg.Samples + cfg.Messages/2)}
	switch cfg.Fault {
	case wire.FaultNone:
		return nil
	case wire.FaultCut:
		f.at = uint64(cfg.FaultAt)
	case wire.FaultSwap:
		f.at = uint64(cfg.Warmup+cfg.Samples) + uint64(max(0, min(cfg.Messages/2, cfg.Messages-2)))
	}
	return f
}

// number reads the message number of a datagram without trusting its length.
func (f *fault) number(d []byte) uint64 {
	if f.shape.fragments == 1 && len(d) >= wire.MinPayload {
		return binary.LittleEndian.Uint64(d[9:])
	}
	if f.shape.fragments > 1 && len(d) >= headSize {
		return binary.LittleEndian.Uint64(d)
	}
	return 0
}

// echo queues what is sent instead of d and returns how many datagrams that are. The sender has room for two more.
func (f *fault) echo(tx *sender, to *peer, d []byte) int {
	if f.isCut && f.cut == *to {
		return 0
	}
	if f.number(d) == f.at && f.spent.CompareAndSwap(false, true) {
		return f.apply(tx, to, d)
	}
	tx.add(to, nil, d)
	if f.held != nil && f.holder == *to {
		tx.add(&f.holder, nil, f.held)
		f.held = nil
		return 2
	}
	return 1
}

func (f *fault) apply(tx *sender, to *peer, d []byte) int {
	switch f.kind {
	case wire.FaultFlip:
		d[len(d)-1] ^= 0x01
	case wire.FaultRepeat:
		tx.add(to, nil, d)
		tx.add(to, nil, d)
		return 2
	case wire.FaultSwap:
		f.held, f.holder = slices.Clone(d), *to
		return 0
	case wire.FaultCut:
		f.cut, f.isCut = *to, true
		return 0
	case wire.FaultDrop:
		return 0
	}
	tx.add(to, nil, d)
	return 1
}
