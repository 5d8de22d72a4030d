package stats

import (
	"math"
	"testing"
)

func TestBinomialChance(t *testing.T) {
	for _, c := range []struct {
		n, k int64
		p    float64
		want float64
	}{
		{10, 5, 0.5, 1},
		{10, 0, 0.5, 2.0 / 1024},
		{10, 10, 0.5, 2.0 / 1024},
		{10, 1, 0.5, 2 * 11.0 / 1024},
		{3, 3, 0.1, 0.002},
		{1_000_000, 10_000, 0.01, 1},
		{5, 0, 0, 1},
		{5, 1, 0, 0},
		{5, 5, 1, 1},
	} {
		if got := BinomialChance(c.n, c.k, c.p); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d of %d at %v: %v, want %v", c.k, c.n, c.p, got, c.want)
		}
	}
	if !math.IsNaN(BinomialChance(3, 4, 0.5)) || !math.IsNaN(BinomialChance(3, -1, 0.5)) {
		t.Error("an impossible count has a chance")
	}
	if p := BinomialChance(1_000_000, 10_487, 0.01); p > 1.4e-6 || p < 0.9e-6 { // 4.89 sigma is 1e-6 for the normal distribution, a little more with this skew
		t.Errorf("4.89 sigma has chance %v", p)
	}
}
