package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRequiredKnownValues(t *testing.T) {
	for _, c := range []struct {
		sd, ratio float64
		want      int
	}{
		{0.1, 1.1, 12}, // 0.01 * 10.8241 / 0.0090840 = 11.92
		{0.1, 1.5, 2},  // 0.66, but two at least
		{0.2, 1.05, 182},
		{0.1, 1, 1e9},
		{0, 1.1, 2},
	} {
		if got := Required(c.sd*c.sd, math.Log(c.ratio)); got != c.want {
			t.Errorf("sd %v, ratio %v: %d blocks, want %d", c.sd, c.ratio, got, c.want)
		}
		if back := Required(c.sd*c.sd, -math.Log(c.ratio)); back != c.want {
			t.Errorf("sd %v, ratio 1/%v: %d blocks, want %d", c.sd, c.ratio, back, c.want)
		}
	}
}

func TestVisibleIsTheInverse(t *testing.T) {
	for _, n := range []int{2, 3, 10, 100} {
		effect := Visible(0.04, n)
		if got := Required(0.04, effect*1.0001); got != n {
			t.Errorf("%d blocks show %v, which asks for %d", n, effect, got)
		}
	}
	if !math.IsInf(Visible(1, 1), 1) {
		t.Error("one block shows something")
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
