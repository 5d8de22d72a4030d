package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRankIsNearestRank compares Rank with integer arithmetic for every percentage and small n.
func TestRankIsNearestRank(t *testing.T) {
	for n := 1; n <= 400; n++ {
		for pct := 1; pct <= 100; pct++ {
			want := (n*pct+99)/100 - 1
			if got := Rank(n, float64(pct)/100); got != want {
				t.Fatalf("Rank(%d, %d%%) = %d, want %d", n, pct, got, want)
			}
		}
		for _, bp := range []int{5, 9995, 9999} { // 1/10,000
			want := (n*bp+9999)/10000 - 1
			if got := Rank(n, float64(bp)/10000); got != want {
				t.Fatalf("Rank(%d, %d/10000) = %d, want %d", n, bp, got, want)
			}
		}
	}
	if Rank(0, 0.5) != -1 {
		t.Fatal("Rank of nothing must be -1")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []int64
		want float64
	}{{[]int64{3}, 3}, {[]int64{9, 1}, 5}, {[]int64{5, 1, 3}, 3}, {[]int64{4, 1, 2, 3}, 2.5}} {
		before := slices.Clone(c.in)
		if got := Median(c.in); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.in, got, c.want)
		}
		if !slices.Equal(before, c.in) {
			t.Errorf("Median changed its argument to %v", c.in)
		}
	}
	if !math.IsNaN(Median([]float64{})) {
		t.Error("the median of nothing must be NaN")
	}
}

func TestFixedP(t *testing.T) {
	ps := FixedP()
	if len(ps) != 201 || ps[0] != 0.0005 || ps[200] != 0.9999 {
		t.Fatalf("grid has %d points from %v to %v", len(ps), ps[0], ps[len(ps)-1])
	}
	for i := 1; i < len(ps); i++ {
		if ps[i] <= ps[i-1] {
			t.Fatalf("grid is not ascending at %d: %v, %v", i, ps[i-1], ps[i])
		}
	}
	qs := make([]int64, len(ps))
	for _, p := range []float64{0.0005, 0.5, 0.95, 0.99, 0.999, 0.9999} {
		if _, err := At(qs, p); err != nil {
			t.Errorf("At(%v): %v", p, err)
		}
	}
	if _, err := At(qs, 0.12345); err == nil {
		t.Error("At accepted a point that is not on the grid")
	}
}

func TestLag1(t *testing.T) {
	alternating := make([]int64, 1000)
	for i := range alternating {
		alternating[i] = int64(i % 2 * 100)
	}
	if got := Lag1(alternating); got > -0.99 {
		t.Errorf("alternating series: lag-1 %v, want near -1", got)
	}
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]float64, 20000)
	for i := range noise {
		noise[i] = r.NormFloat64()
	}
	if got := Lag1(noise); math.Abs(got) > 3/math.Sqrt(20000) {
		t.Errorf("independent noise: lag-1 %v", got)
	}
	if Lag1([]int64{5, 5, 5, 5}) != 0 {
		t.Error("a constant series has no correlation")
	}
}

// dipByDefinition searches all unimodal fits through pairs of data points: the least sup distance for a mode interval [i, j],
// convex before, concave after, by the taut string between bands of half-width d. It is slow and independent of Dip.
func dipByDefinition(x []float64) float64 {
	lo, hi := 0.0, 0.5
	for range 60 {
		mid := (lo + hi) / 2
		if unimodalWithin(x, mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// unimodalWithin says whether some unimodal distribution stays within d of the empirical one. For a mode at x[m] and a value v
// there, the part before it may be the greatest convex minorant of the upper band that ends in v, the part after it the least
// concave majorant of the lower band that starts in v; a larger v helps the first and harms the second.
func unimodalWithin(x []float64, d float64) bool {
	n := len(x)
	for m := range n {
		lo, hi := 0.0, float64(m)/float64(n)+d
		if !convexFits(x[:m+1], n, d, hi) {
			continue
		}
		for range 50 {
			if mid := (lo + hi) / 2; convexFits(x[:m+1], n, d, mid) {
				hi = mid
			} else {
				lo = mid
			}
		}
		if concaveFits(x[m:], m, n, d, max(hi, float64(m+1)/float64(n)-d)) {
			return true
		}
	}
	return false
}

// convexFits: the minorant of the points (x_k, F(x_k-)+d), the last of them at v, must not fall below F(x_k)-d before the mode.
func convexFits(x []float64, n int, d, v float64) bool {
	last := len(x) - 1
	upper := func(i int) float64 {
		if i == last {
			return v
		}
		return float64(i)/float64(n) + d
	}
	for k := range x[:last] {
		best := math.Inf(1)
		for i := 0; i <= k; i++ {
			for j := k; j <= last; j++ {
				best = min(best, chord(x[i], upper(i), x[j], upper(j), x[k]))
			}
		}
		if best < float64(k+1)/float64(n)-d-1e-12 {
			return false
		}
	}
	return true
}

// concaveFits mirrors convexFits behind the mode, for the points (x_k, F(x_k)-d), the first of them at v.
func concaveFits(x []float64, from, n int, d, v float64) bool {
	last := len(x) - 1
	lower := func(i int) float64 {
		if i == 0 {
			return v
		}
		return float64(from+i+1)/float64(n) - d
	}
	for k := 1; k <= last; k++ {
		best := math.Inf(-1)
		for i := 0; i <= k; i++ {
			for j := k; j <= last; j++ {
				best = max(best, chord(x[i], lower(i), x[j], lower(j), x[k]))
			}
		}
		if best > float64(from+k)/float64(n)+d+1e-12 {
			return false
		}
	}
	return true
}

func chord(x0, y0, x1, y1, x float64) float64 {
	if x1 == x0 {
		return y0
	}
	return y0 + (y1-y0)*(x-x0)/(x1-x0)
}

func TestDipAgreesWithItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 60 {
		n := 4 + r.IntN(20)
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
			if trial%2 == 1 && i%2 == 0 {
				x[i] += 6
			}
		}
		slices.Sort(x)
		got, want := Dip(x), dipByDefinition(x)
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("trial %d, n %d: Dip = %v, definition gives %v", trial, n, got, want)
		}
	}
}

func TestDipTellsOneModeFromTwo(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	one, two := make([]int64, 5000), make([]int64, 5000)
	for i := range one {
		one[i] = int64(50000 + 5000*r.NormFloat64())
		two[i] = one[i]
		if i%2 == 0 {
			two[i] += 60000
		}
	}
	slices.Sort(one)
	slices.Sort(two)
	if a, b := Dip(one), Dip(two); a > 0.01 || b < 0.1 {
		t.Errorf("dip of one mode %v, of two %v", a, b)
	}
	if Dip([]int64{7, 7, 7}) != 0 {
		t.Error("a constant sample has no dip")
	}
}

func BenchmarkPercentiles262144(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	src := make([]int64, 262144)
	for i := range src {
		src[i] = r.Int64N(1e8)
	}
	xs := make([]int64, len(src))
	for b.Loop() {
		copy(xs, src)
		slices.Sort(xs)
		_ = Quantiles(xs, FixedP())
		_ = Dip(xs)
		_ = Lag1(src)
	}
}
