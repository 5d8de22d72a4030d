package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRequiredKnownValues(t *testing.T) {
	for _, c := range []struct {
		sd, ratio   float64
		comparisons int
		want        int
	}{
		{0.1, 1.1, 1, 14}, // 0.01 * 10.822 / 0.0090840 + 1.353 = 13.27
		{0.1, 1.5, 1, 3},  // 0.66 + 1.35
		{0.2, 1.05, 1, 184},
		{0.1, 1.1, 4, 20}, // z(1 - 0.0125) = 2.2414: 0.01 * 15.103 / 0.0090840 + 2.512 = 19.14
		{0.1, 1, 1, 1e9},
		{0, 1.1, 1, 2},
	} {
		if got := Required(c.sd*c.sd, math.Log(c.ratio), c.comparisons); got != c.want {
			t.Errorf("sd %v, ratio %v: %d blocks, want %d", c.sd, c.ratio, got, c.want)
		}
		if back := Required(c.sd*c.sd, -math.Log(c.ratio), c.comparisons); back != c.want {
			t.Errorf("sd %v, ratio 1/%v: %d blocks, want %d", c.sd, c.ratio, back, c.want)
		}
	}
}

func TestVisibleIsTheInverse(t *testing.T) {
	for _, n := range []int{3, 10, 100} {
		effect := Visible(0.04, n, 2)
		if got := Required(0.04, effect*1.0001, 2); got != n {
			t.Errorf("%d blocks show %v, which asks for %d", n, effect, got)
		}
	}
	if !math.IsInf(Visible(1, 1, 1), 1) || !math.IsInf(Visible(1, 3, 100), 1) {
		t.Error("too few blocks show something")
	}
}

// TestRequiredHasItsPower draws as many blocks as Required asks for and counts how often the t-test at the corrected level sees the effect.
func TestRequiredHasItsPower(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	const draws, sd, effect = 2_000, 0.1, 0.12
	for _, comparisons := range []int{1, 4, 20} {
		n, seen := Required(sd*sd, effect, comparisons), 0
		for range draws {
			d := make([]float64, n)
			for i := range d {
				d[i] = effect + sd*r.NormFloat64()
			}
			e := Estimate{N: n, Mean: Mean(d), Var: Variance(d), DF: float64(n - 1)}
			if e.BeyondP(0) < Level/float64(comparisons) {
				seen++
			}
		}
		if share := float64(seen) / draws; share < 0.93 || share > 0.98 {
			t.Errorf("%d comparisons, %d blocks: seen in %.3f of the draws, want 0.95", comparisons, n, share)
		}
	}
}

func TestRangeOfThreeIsUnbiased(t *testing.T) {
	r, sum := rand.New(rand.NewPCG(7, 3)), 0.0
	const draws = 100_000
	for range draws {
		a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		sum += RangeOfThree(min(a, b, c), max(a, b, c))
	}
	if mean := sum / draws; math.Abs(mean-1) > 0.01 {
		t.Errorf("mean estimate %v of a standard deviation of 1", mean)
	}
}
