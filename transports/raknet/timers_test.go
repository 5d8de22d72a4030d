//go:build linux

package raknet

import (
	"math/rand/v2"
	"slices"
	"testing"

	"transportbench/transports/raknet/internal/sock"
)

func TestTimerHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var h timerHeap
	conns := make([]*Conn, 200)
	for i := range conns {
		conns[i] = newConn(nil, sockAddr, sockAddr)
	}
	for range 5000 {
		c := conns[r.IntN(len(conns))]
		switch r.IntN(4) {
		case 0:
			h.remove(c)
		case 1:
			h.set(c, never)
		default:
			h.set(c, r.Int64N(1000))
		}
		least := never
		for _, c := range conns {
			least = min(least, c.timerAt)
		}
		if len(h) > 0 && h[0].timerAt != least || len(h) == 0 && least != never {
			t.Fatalf("first of %d is not the least, %d", len(h), least)
		}
	}
	var order []int64
	for len(h) > 0 {
		order = append(order, h[0].timerAt)
		h.remove(h[0])
	}
	if !slices.IsSorted(order) {
		t.Errorf("order %v", order)
	}
}

var sockAddr = (&Listener{}).addr

func TestPeerTable(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	table := peerTable{seed: 3}
	model := map[sock.Key]*Conn{}
	for range 20_000 {
		k := sock.Key{Lo: uint64(r.IntN(300)), Port: uint32(r.IntN(2))}
		switch c := model[k]; {
		case c == nil:
			c = newConn(nil, sockAddr, sockAddr)
			table.add(k, c)
			model[k] = c
		case r.IntN(2) == 0:
			table.remove(k, c)
			delete(model, k)
		}
		if table.find(k) != model[k] {
			t.Fatalf("key %+v is not where it should be", k)
		}
	}
	for k, c := range model {
		if table.find(k) != c {
			t.Fatalf("key %+v got lost", k)
		}
	}
	if table.n != len(model) {
		t.Errorf("%d entries, want %d", table.n, len(model))
	}
}
