package stats

import (
	"math"
	"math/big"
	"testing"
)

// tail is P(Bin(n, num/den) < r) in exact arithmetic: slow and independent of the incomplete beta function.
func tail(n, r int, num, den int64) float64 {
	sum, one := new(big.Rat), big.NewRat(num, den)
	other := new(big.Rat).Sub(big.NewRat(1, 1), one)
	for k := range r {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
		for range k {
			term.Mul(term, one)
		}
		for range n - k {
			term.Mul(term, other)
		}
		sum.Add(sum, term)
	}
	f, _ := sum.Float64()
	return f
}

func TestMedianInterval(t *testing.T) {
	for n := 1; n <= 40; n++ {
		low, high, coverage, ok := MedianInterval(n)
		if ok != (n >= 6) {
			t.Fatalf("n=%d: ok %t", n, ok)
		}
		if !ok {
			continue
		}
		if want := 1 - 2*tail(n, low, 1, 2); math.Abs(coverage-want) > 1e-12 || high != n+1-low {
			t.Errorf("n=%d: [x%d, x%d] %.6f, exact %.6f", n, low, high, coverage, want)
		}
		if narrower := 1 - 2*tail(n, low+1, 1, 2); coverage < 0.95 || narrower >= 0.95 {
			t.Errorf("n=%d: [x%d, x%d] is not the narrowest: %.4f, next %.4f", n, low, high, coverage, narrower)
		}
	}
	for n, want := range map[int][2]int{6: {1, 6}, 8: {1, 8}, 9: {2, 8}, 10: {2, 9}} {
		if low, high, _, _ := MedianInterval(n); low != want[0] || high != want[1] {
			t.Errorf("n=%d: [x%d, x%d], want %v", n, low, high, want)
		}
	}
}

func TestUpperRankBegins(t *testing.T) {
	for _, c := range []struct {
		p, confidence float64
		first         int
	}{{0.99, 0.95, 299}, {0.99, 0.975, 368}, {0.999, 0.95, 2995}, {0.999, 0.975, 3688}, {0.5, 0.95, 5}} {
		if r, ok := UpperRank(c.first-1, c.p, c.confidence); ok {
			t.Errorf("p%v: n=%d already has rank %d", 100*c.p, c.first-1, r)
		}
		if r, ok := UpperRank(c.first, c.p, c.confidence); !ok || r != c.first {
			t.Errorf("p%v: n=%d has rank %d, %t", 100*c.p, c.first, r, ok)
		}
	}
	if _, ok := UpperRank(0, 0.5, 0.95); ok {
		t.Error("nothing has a rank")
	}
	for _, n := range []int{20, 60} {
		r, _ := UpperRank(n, 0.9, 0.95)
		if n >= 29 && (tail(n, r, 9, 10) < 0.95 || tail(n, r-1, 9, 10) >= 0.95) {
			t.Errorf("n=%d: rank %d of p90 holds %.4f, the one below %.4f", n, r, tail(n, r, 9, 10), tail(n, r-1, 9, 10))
		}
	}
}

func TestQuantileLinear(t *testing.T) {
	for _, c := range []struct {
		xs   []int64
		p    float64
		want float64
	}{{nil, 0.5, 0}, {[]int64{7}, 0.99, 7}, {[]int64{1, 2}, 0.5, 1.5}, {[]int64{10, 20, 30, 50}, 0.9, 44}, {[]int64{1, 3}, 1, 3}} {
		if got := QuantileLinear(c.xs, c.p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v at %v: %v, want %v", c.xs, c.p, got, c.want)
		}
	}
}
