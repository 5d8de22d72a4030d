package relay

import (
	"encoding/binary"
	"math/rand/v2"
)

// dice is a seeded source of decisions for one lane or stream.
type dice struct{ r *rand.Rand }

func newDice(seed, number uint64) *dice { return &dice{rand.New(rand.NewPCG(seed, number))} }

// hit is true in ppm of a million cases; it always draws.
func (d *dice) hit(ppm int) bool { return d.r.IntN(1_000_000) < ppm }

func (d *dice) below(n int) int { return d.r.IntN(n) }

func (d *dice) fill(b []byte) {
	var word [8]byte
	for i := 0; i < len(b); i += len(word) {
		binary.LittleEndian.PutUint64(word[:], d.r.Uint64())
		copy(b[i:], word[:])
	}
}
