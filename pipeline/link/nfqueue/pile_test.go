package nfqueue

import (
	"math/rand/v2"
	"testing"
)

// TestPile fills and drains at once: sorted by time, and by arrival where times are equal, even as ids wrap around.
func TestPile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := pile{sorted: true}
	id, now, left := uint32(1<<32-500), int64(0), 0
	var last entry
	for range 2000 {
		for range rng.IntN(4) {
			p.push(entry{id, now + rng.Int64N(50)})
			id++
			left++
		}
		now += 3
		for {
			e, ok := p.front()
			if !ok || e.dueNS > now {
				break
			}
			if e.dueNS < last.dueNS && last.dueNS <= now-3 || e.dueNS == last.dueNS && int32(e.id-last.id) <= 0 {
				t.Fatalf("%+v left after %+v", e, last)
			}
			last = e
			p.pop()
			left--
		}
	}
	for e, ok := p.front(); ok; e, ok = p.front() {
		if e.dueNS < last.dueNS {
			t.Fatalf("%+v left after %+v", e, last)
		}
		last = e
		p.pop()
		left--
	}
	if left != 0 {
		t.Errorf("%d packets vanished", left)
	}
}

func TestPileInOrder(t *testing.T) {
	var p pile
	for i := range uint32(1000) {
		p.push(entry{id: i})
	}
	for i := range uint32(1000) {
		if e, ok := p.front(); !ok || e.id != i {
			t.Fatalf("front %+v %v, want %d", e, ok, i)
		}
		p.pop()
	}
	if _, ok := p.front(); ok {
		t.Error("drained pile has a front")
	}
}

func TestLength(t *testing.T) {
	six := append([]byte{0x60, 0, 0, 0, 1, 44, 17, 64}, make([]byte, 32)...)
	for _, c := range []struct {
		ip   []byte
		want int
	}{{udp, 32}, {six, 340}, {six[:39], 0}, {udp[:19], 0}, {nil, 0}} {
		if got := Length(c.ip); got != c.want {
			t.Errorf("length of % x is %d, want %d", c.ip, got, c.want)
		}
	}
}
