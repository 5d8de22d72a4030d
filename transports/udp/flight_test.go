//go:build linux

package udp

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"transportbench/transports/wire"
)

// TestFlightAgainstAList drives the ring and a plain list through the same random history.
func TestFlightAgainstAList(t *testing.T) {
	for _, window := range []int{1, 3, 16, 64} {
		rng := rand.New(rand.NewPCG(1, uint64(window)))
		f, list, next := newFlight(window), []uint64{}, uint64(0)
		for range 20_000 {
			if len(list) < window && rng.IntN(2) == 0 {
				f.push(next, int64(next), 1)
				list = append(list, next)
				next++
			} else if len(list) > 0 {
				i := rng.IntN(len(list))
				if rng.IntN(4) > 0 {
					i = 0
				}
				if got := f.find(list[i]); got != i {
					t.Fatalf("window %d: message %d at %d, want %d", window, list[i], got, i)
				}
				f.remove(i)
				list = slices.Delete(list, i, i+1)
			}
			checkFlight(t, &f, list)
		}
	}
}

func checkFlight(t *testing.T, f *flight, want []uint64) {
	t.Helper()
	if f.n != len(want) {
		t.Fatalf("%d messages, want %d", f.n, len(want))
	}
	for i, msg := range want {
		if e := f.at(i); e.msg != msg || e.sentNS != int64(msg) {
			t.Fatalf("position %d holds %+v, want message %d", i, *e, msg)
		}
	}
}

func TestFindOfWhatIsNotThere(t *testing.T) {
	f := newFlight(4)
	if f.find(0) != -1 {
		t.Error("empty flight finds message 0")
	}
	f.push(2, 0, 1)
	f.push(5, 0, 1)
	for _, msg := range []uint64{1, 3, 6} {
		if f.find(msg) != -1 {
			t.Errorf("message %d is found", msg)
		}
	}
}

// sent returns a connection with n messages of some fragments in flight, each sent at its own number in ns.
func sent(t *testing.T, n int, payload int) (*conn, *plan) {
	t.Helper()
	s, err := newShape(payload, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &plan{shape: s, window: n, warmup: 1, rounds: 3, total: uint64(n)}
	c := newConn(0, -1, p)
	for i := range n {
		c.flight.push(uint64(i), int64(i), s.fragments)
		c.next++
	}
	return c, p
}

func TestEchoesAreCountedOnce(t *testing.T) {
	c, p := sent(t, 6, 64)
	clock := newClock()
	for _, msg := range []uint64{1, 0, 1, 3, 3, 2, 5, 4, 0} { // reordered, three repeated
		if err := c.echoed(p, msg, 0, clock); err != nil {
			t.Fatal(err)
		}
	}
	if c.verified != 6 || c.stray != 3 || c.burst != 3 || len(c.sparse) != 2 || c.flight.n != 0 {
		t.Errorf("verified %d stray %d burst %d samples %d in flight %d, want 6 3 3 2 0",
			c.verified, c.stray, c.burst, len(c.sparse), c.flight.n)
	}
	var wrong *wire.VerificationError
	if err := c.echoed(p, 6, 0, clock); !errors.As(err, &wrong) {
		t.Errorf("echo of a message that was not sent: %v", err)
	}
}

func TestMessageIsCompleteWithItsLastFragment(t *testing.T) {
	c, p := sent(t, 2, 4096)
	clock := newClock()
	for _, f := range []int{2, 0, 2, 0} { // fragment 1 is missing, the others come twice
		if err := c.echoed(p, 0, f, clock); err != nil {
			t.Fatal(err)
		}
	}
	if c.verified != 0 || c.stray != 2 {
		t.Fatalf("verified %d stray %d, want 0 2", c.verified, c.stray)
	}
	c.expire(lostAfterNS, lostAfterNS)
	if c.lost != 1 || c.flight.n != 1 {
		t.Fatalf("lost %d in flight %d, want 1 1: message 1 was sent 1 ns later", c.lost, c.flight.n)
	}
	if err := c.echoed(p, 0, 1, clock); err != nil || c.stray != 3 || c.verified != 0 {
		t.Errorf("late fragment: %v, stray %d, verified %d; want it ignored", err, c.stray, c.verified)
	}
}
