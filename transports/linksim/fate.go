package linksim

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/dchest/siphash"
)

// What a draw decides. Each has its own stream of random numbers, so switching one impairment on does not move the others.
const (
	drawLoss = iota
	drawDuplicate
	drawReorder
	drawJitter
	drawCopyReorder
	drawCopyJitter
)

// dice draws the fates of one direction.
type dice struct {
	seed, direction uint64
}

func newDice(seed int64, from, to netip.AddrPort) dice {
	name := from.String() + ">" + to.String()
	return dice{uint64(seed), siphash.Hash(uint64(seed), 0, []byte(name))}
}

// draw is a uniform number below limit for datagram n. The bias of the modulo is under limit/2^64.
func (d dice) draw(n uint64, what byte, limit uint64) uint64 {
	var key [9]byte
	binary.LittleEndian.PutUint64(key[:], n)
	key[8] = what
	return siphash.Hash(d.seed, d.direction, key[:]) % limit
}

// hit is true with a probability of ppm parts per million.
func (d dice) hit(n uint64, what byte, ppm int) bool {
	return ppm > 0 && d.draw(n, what, million) < uint64(ppm)
}

// delays lists the delay of every copy of datagram n that is delivered: none when it is lost, two when it is duplicated.
func (d dice) delays(p *Path, n uint64, buf []time.Duration) []time.Duration {
	if d.hit(n, drawLoss, p.LossPPM) {
		return buf
	}
	buf = append(buf, d.delay(p, n, drawReorder, drawJitter))
	if d.hit(n, drawDuplicate, p.DuplicatePPM) {
		buf = append(buf, d.delay(p, n, drawCopyReorder, drawCopyJitter))
	}
	return buf
}

func (d dice) delay(p *Path, n uint64, reorder, jitter byte) time.Duration {
	delay := p.Delay
	if p.Jitter > 0 {
		delay += time.Duration(d.draw(n, jitter, uint64(p.Jitter)+1))
	}
	if d.hit(n, reorder, p.ReorderPPM) {
		delay += p.ReorderBy
	}
	return delay
}
