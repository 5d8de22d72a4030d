package link

import (
	"encoding/binary"

	"github.com/dchest/siphash"
)

// decider replays losses: the n-th packet of a direction and connection meets the same fate for the same seed, whatever
// else is in flight.
type decider struct {
	k0, k1    uint64
	message   [24]byte // second half of the seed, then direction, connection, packet number
	threshold uint64   // of a uniform 64-bit number
	next      [len(directionNames)][1 << 16]uint32
}

func newDecider(seed [32]byte, lossPPM int) *decider {
	d := &decider{
		k0: binary.LittleEndian.Uint64(seed[0:]), k1: binary.LittleEndian.Uint64(seed[8:]),
		threshold: uint64(dropThreshold(lossPPM)) << 32,
	}
	copy(d.message[:], seed[16:])
	return d
}

// drop decides about the next packet of a connection, named by the client's port. SipHash-2-4 (Aumasson, Bernstein 2012).
func (d *decider) drop(direction int, connection uint16) bool {
	n := d.next[direction][connection]
	d.next[direction][connection]++
	binary.LittleEndian.PutUint16(d.message[16:], uint16(direction))
	binary.LittleEndian.PutUint16(d.message[18:], connection)
	binary.LittleEndian.PutUint32(d.message[20:], n)
	return siphash.Hash(d.k0, d.k1, d.message[:]) < d.threshold
}
