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

func TestBinomialBand(t *testing.T) {
	cases := []struct {
		n         int64
		p, chance float64
		lo, hi    int64
	}{
		// by hand: P(X <= 1) = 11/1024 and P(X <= 2) = 56/1024 at n = 10, p = 1/2
		{10, 0.5, 0.05, 2, 8},
		{10, 0.5, 0.11, 3, 7},
		{10, 0.5, 0.001, 0, 10},
		{100, 0, 0.001, 0, 0},
		{100, 1, 0.001, 100, 100},
		// P(X <= 0) = 0.99^100 = 0.366, so nothing at all is inside; P(X >= 6) = 0.000535 and P(X >= 7) = 0.0000707
		{100, 0.01, 0.001, 0, 6},
	}
	for _, c := range cases {
		if lo, hi := BinomialBand(c.n, c.p, c.chance); lo != c.lo || hi != c.hi {
			t.Errorf("band of %d at %g with %g: %d to %d, want %d to %d", c.n, c.p, c.chance, lo, hi, c.lo, c.hi)
		}
	}
	lo, hi := BinomialBand(100_000, 0.05, 0.001) // the normal band is 5000 +- 3.2905 * 68.92 = 226.8
	if lo < 4772 || lo > 4777 || hi < 5224 || hi > 5230 {
		t.Errorf("band of 5 %% of 100,000: %d to %d, want nearly 5000 +- 227", lo, hi)
	}
	for _, k := range []int64{lo, hi} {
		if c := BinomialChance(100_000, k, 0.05); c <= 0.001 {
			t.Errorf("%d is inside but has chance %g", k, c)
		}
	}
	for _, k := range []int64{lo - 1, hi + 1} {
		if c := BinomialChance(100_000, k, 0.05); c > 0.001 {
			t.Errorf("%d is outside but has chance %g", k, c)
		}
	}
}
