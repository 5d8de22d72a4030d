package calibrate

import (
	"math/rand/v2"
	"testing"

	"transportbench/pipeline/link"
)

// arrivals loses each of n with the chance p; with a step of more than 1 so many at once.
func arrivals(rng *rand.Rand, n, step int, p float64) []bool {
	out := make([]bool, n)
	for i := 0; i < n; i += step {
		lost := rng.Float64() < p
		for j := i; j < min(i+step, n); j++ {
			out[j] = !lost
		}
	}
	return out
}

func TestLossIsJudged(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	counted := link.Counters{Directions: []link.Direction{{Name: "to-server", Dropped: 3, Overflow: 1}, {Name: "to-client", Dropped: 4, Overflow: 1}}, UDP: map[string]int64{"RcvbufErrors": 5}}
	honest := newLoss(10_000, "to-client", arrivals(rng, 100_000, 1, 0.01), 7, counted)
	if !honest.Inside || honest.Runs.Chance < 0.001 || honest.Ledger != 4 || honest.QueueDrops != 2 || honest.BufferDrops != 5 || honest.OutOfOrder != 7 {
		t.Errorf("honest losses: %+v", honest)
	}
	if l := newLoss(10_000, "to-server", arrivals(rng, 100_000, 1, 0.012), 0, counted); l.Inside {
		t.Errorf("1.2 %% passes for 1 %%: %+v", l)
	}
	if l := newLoss(10_000, "to-server", arrivals(rng, 100_000, 4, 0.01), 0, counted); l.Runs.Chance > 1e-6 || l.LongestBurst < 4 {
		t.Errorf("losses in fours pass for independent: %+v", l)
	}
	if l := newLoss(0, "to-server", make([]bool, 0), 0, link.Counters{}); !l.Inside || l.Ledger != -1 {
		t.Errorf("nothing sent: %+v", l)
	}
}

func TestBatchUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 5000 * batchSegments
	whole := newBatch(arrivals(rng, n, batchSegments, 0.05))
	if whole.Unit != link.LossUnitBatch || !whole.Inside || whole.Units != 5000 || whole.Lost != whole.UnitsLost*batchSegments {
		t.Errorf("batches dropped whole: %+v", whole)
	}
	single := newBatch(arrivals(rng, n, 1, 0.05))
	if single.Unit != link.LossUnitDatagram || !single.Inside || single.Units != n || single.Lost != single.UnitsLost {
		t.Errorf("datagrams dropped one by one: %+v", single)
	}
	if none := newBatch(arrivals(rng, n, 1, 0)); none.Unit != "none" || none.Lost != 0 {
		t.Errorf("nothing lost: %+v", none)
	}
}
