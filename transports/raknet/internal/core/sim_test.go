package core

import (
	"container/heap"
	"flag"
	"fmt"
	"testing"
	"time"
)

var (
	schedules = flag.Int("schedules", 0, "simulated schedules (0: 100,000, or 5,000 with -short)")
	firstSeed = flag.Uint64("seed", 1, "seed of the first schedule")
)

// TestSchedules runs whole pairs through seeded loss, reordering, duplication, blackouts and stalled readers, and checks after every
// event that messages arrive exactly once and in order and that memory stays bounded, and at the end that everything arrived.
func TestSchedules(t *testing.T) {
	n := *schedules
	if n == 0 {
		n = 100_000
		if testing.Short() || raceEnabled {
			n = 5_000
		}
	}
	for i := range uint64(n) {
		if err := runSchedule(*firstSeed + i); err != nil {
			t.Fatalf("seed %d: %v (repeat with -run TestSchedules -seed %d -schedules 1)", *firstSeed+i, err, *firstSeed+i)
		}
	}
}

func runSchedule(seed uint64) error { return newWorld(seed).run() }

// run lets the world go on until everything that was planned has arrived.
func (w *world) run() error {
	w.ends[0].s.Start(w.now)
	limit := w.now + int64(60*time.Second)
	for !w.finished() {
		for _, e := range w.ends {
			if err := e.step(); err != nil {
				return err
			}
		}
		w.now = w.nextTime()
		if w.now > limit {
			return fmt.Errorf("no progress: %d of %d and %d of %d arrived",
				w.ends[0].got, w.ends[0].expect, w.ends[1].got, w.ends[1].expect)
		}
		for len(w.queue) > 0 && w.queue[0].at <= w.now {
			ev := heap.Pop(&w.queue).(event)
			w.ends[ev.to].s.Receive(w.now, ev.data)
			if w.watch != nil {
				w.watch()
			}
		}
	}
	return nil
}

func (w *world) nextTime() int64 {
	t := min(w.ends[0].deadline(), w.ends[1].deadline())
	if len(w.queue) > 0 {
		t = min(t, w.queue[0].at)
	}
	return t
}
