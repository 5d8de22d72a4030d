package link

import (
	"encoding/binary"

	"github.com/dchest/siphash"
)

// Draws of one packet that must not depend on each other.
const (
	drawLoss = iota // also the fate of a packet before there were others: it keeps its meaning for old seeds
	drawTurn        // of the burst chain, after this packet
	drawJitter
	drawReorder
	drawStart // state of the burst chain at the first packet
)

// decider replays draws: the n-th packet of a direction and connection meets the same fate for the same seed, whatever else
// is in flight.
type decider struct {
	k0, k1  uint64
	message [24]byte // second half of the seed, then direction with the draw above it, connection, packet number
}

func newDecider(seed [32]byte) *decider {
	d := &decider{k0: binary.LittleEndian.Uint64(seed[0:]), k1: binary.LittleEndian.Uint64(seed[8:])}
	copy(d.message[:], seed[16:])
	return d
}

// draw is a uniform 64-bit number for the n-th packet of a connection, named by the client's port. SipHash-2-4 (Aumasson,
// Bernstein 2012).
func (d *decider) draw(kind, direction int, connection uint16, n uint32) uint64 {
	binary.LittleEndian.PutUint16(d.message[16:], uint16(direction|kind<<8))
	binary.LittleEndian.PutUint16(d.message[18:], connection)
	binary.LittleEndian.PutUint32(d.message[20:], n)
	return siphash.Hash(d.k0, d.k1, d.message[:])
}

// threshold is the same share of 64-bit numbers that dropThreshold is of 32-bit ones.
func threshold(ppm int) uint64 { return uint64(dropThreshold(ppm)) << 32 }
