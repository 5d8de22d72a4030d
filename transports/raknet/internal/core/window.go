package core

import "transportbench/transports/raknet/internal/codec"

// window remembers which 24-bit numbers from base on were seen. It grows from 64 numbers up to its limit.
type window struct {
	base uint32
	bits []uint64
	one  [1]uint64
}

func (w *window) init() { w.bits = w.one[:] }

// state tells a number that was seen, a new one within limit and one beyond it apart.
func (w *window) seen(v uint32) bool {
	d := codec.Diff24(v, w.base)
	if d < 0 {
		return true
	}
	return int(d) < len(w.bits)*64 && w.bits[w.slot(v)]>>(v&63)&1 == 1
}

func (w *window) within(v uint32, limit int32) bool { return codec.Diff24(v, w.base) < limit }

// mark notes v, which must be new and within the limit.
func (w *window) mark(v uint32) {
	if v == w.base { // the usual case: nothing is missing
		w.advance()
		return
	}
	for int(codec.Diff24(v, w.base)) >= len(w.bits)*64 {
		w.grow()
	}
	w.bits[w.slot(v)] |= 1 << (v & 63)
}

func (w *window) advance() {
	for {
		w.bits[w.slot(w.base)] &^= 1 << (w.base & 63)
		w.base = (w.base + 1) & codec.Mask24
		if w.bits[w.slot(w.base)]>>(w.base&63)&1 == 0 {
			return
		}
	}
}

func (w *window) slot(v uint32) int { return int(v>>6) & (len(w.bits) - 1) }

func (w *window) grow() {
	old := *w
	w.bits = make([]uint64, 2*len(old.bits))
	for i := range uint32(len(old.bits) * 64) {
		v := (old.base + i) & codec.Mask24
		if old.bits[old.slot(v)]>>(v&63)&1 == 1 {
			w.bits[w.slot(v)] |= 1 << (v & 63)
		}
	}
}

const recentNumbers = 512

// recent remembers the last 512 datagram numbers.
type recent struct {
	next uint32 // one more than the newest number
	bits [recentNumbers / 64]uint64
}

// old says that v is too far back to know whether it was seen.
func (r *recent) old(v uint32) bool { return codec.Diff24(v, r.next) < -recentNumbers }

func (r *recent) seen(v uint32) bool {
	return codec.Less24(v, r.next) && r.bits[v>>6&(recentNumbers/64-1)]>>(v&63)&1 == 1
}

// mark notes v and returns how many numbers before it were skipped.
func (r *recent) mark(v uint32) (skipped int) {
	d := int(codec.Diff24(v, r.next))
	if d >= 0 {
		for i := range min(d+1, recentNumbers) {
			r.set((v-uint32(i))&codec.Mask24, false)
		}
		r.next = (v + 1) & codec.Mask24
		skipped = d
	}
	r.set(v, true)
	return skipped
}

func (r *recent) set(v uint32, on bool) {
	word := &r.bits[v>>6&(recentNumbers/64-1)]
	*word &^= 1 << (v & 63)
	if on {
		*word |= 1 << (v & 63)
	}
}
