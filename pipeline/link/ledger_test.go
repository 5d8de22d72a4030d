package link

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBalance(t *testing.T) {
	cases := []struct {
		name  string
		d     Direction
		ppm   int
		ok    bool
		flags []string
	}{
		{"clean", Direction{Seen: 1000}, 0, true, nil},
		{"drop at zero loss", Direction{Seen: 1_000_000, Dropped: 1}, 0, false, nil},
		{"nothing seen", Direction{}, 10_000, true, nil},
		{"exact mean", Direction{Seen: 1_000_000, Dropped: 10_000}, 10_000, true, nil},
		{"just inside", Direction{Seen: 1_000_000, Dropped: 10_486}, 10_000, true, []string{FlagLossUnusual}},
		{"just outside", Direction{Seen: 1_000_000, Dropped: 10_487}, 10_000, false, nil},
		{"just outside below", Direction{Seen: 1_000_000, Dropped: 9_513}, 10_000, false, nil},
		{"not yet unusual", Direction{Seen: 1_000_000, Dropped: 10_327}, 10_000, true, nil},
		{"unusual", Direction{Seen: 1_000_000, Dropped: 10_328}, 10_000, true, []string{FlagLossUnusual}},
		{"no loss applied", Direction{Seen: 1_000_000}, 10_000, false, nil},
		{"no loss on few packets is likely", Direction{Seen: 100}, 10_000, true, nil},
		{"no loss on many packets is not", Direction{Seen: 2_000}, 10_000, false, nil},
		{"18 of 600 is unusual, not wrong", Direction{Seen: 600, Dropped: 18}, 10_000, true, []string{FlagLossUnusual}},
		{"all dropped", Direction{Seen: 50, Dropped: 50}, 50_000, false, nil},
		{"overflow is told apart", Direction{Seen: 1_000, Overflow: 5}, 0, true, []string{FlagQueueOverflow}},
		{"more dropped than seen", Direction{Seen: 5, Dropped: 6}, 50_000, false, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Balance(c.d, c.ppm)
			if v.OK != c.ok || !slices.Equal(v.Flags, c.flags) {
				t.Errorf("Balance(%+v, %d) = %+v, want ok %v flags %v", c.d, c.ppm, v, c.ok, c.flags)
			}
			if v.OK == (v.Reason != "") {
				t.Errorf("reason %q does not go with ok %v", v.Reason, v.OK)
			}
		})
	}
}

// TestBinomialChance compares with values that follow from the definition by hand.
func TestBinomialChance(t *testing.T) {
	cases := []struct {
		n, k int64
		p    float64
		want float64
	}{
		{10, 0, 0.5, 2.0 / 1024},
		{10, 10, 0.5, 2.0 / 1024},
		{10, 1, 0.5, 2 * 11.0 / 1024},
		{4, 2, 0.5, 1},
		{3, 3, 0.1, 2 * 0.001},
		{100, 0, 0.05, 2 * math.Pow(0.95, 100)},
	}
	for _, c := range cases {
		if got := binomialChance(c.n, c.k, c.p); math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("binomialChance(%d, %d, %g) = %g, want %g", c.n, c.k, c.p, got, c.want)
		}
	}
}

// TestBalanceFalseAlarms draws honest runs: none may fail (expected 0.001 in 1,000), about one in 1,000 may be flagged.
func TestBalanceFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int64{600, 5_000, 200_000} {
		failed, flagged := 0, 0
		for range 1000 {
			v := Balance(Direction{Seen: n, Dropped: draw(rng, n, 0.01)}, 10_000)
			if !v.OK {
				failed++
			}
			flagged += len(v.Flags)
		}
		if failed > 0 || flagged > 5 {
			t.Errorf("n=%d: %d failed and %d flagged of 1,000 honest runs, want 0 and about 1", n, failed, flagged)
		}
	}
}

// TestBalanceDetects draws runs whose loss is 10 % too high: with 1,000,000 packets the ledger must see it.
func TestBalanceDetects(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	missed := 0
	for range 100 {
		if Balance(Direction{Seen: 1_000_000, Dropped: draw(rng, 1_000_000, 0.011)}, 10_000).OK {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("%d of 100 runs with 1.1 %% instead of 1 %% loss passed", missed)
	}
}

// draw is one binomial number, by geometric gaps between drops.
func draw(rng *rand.Rand, n int64, p float64) int64 {
	var k int64
	for i := int64(0); ; k++ {
		i += 1 + int64(math.Log(1-rng.Float64())/math.Log1p(-p))
		if i > n {
			return k
		}
	}
}
