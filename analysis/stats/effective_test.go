package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowEffective follows the definition lag by lag.
func slowEffective(xs []float64) float64 {
	n, mean := len(xs), Mean(xs)
	cov := func(lag int) float64 {
		s := 0.0
		for i := 0; i+lag < n; i++ {
			s += (xs[i] - mean) * (xs[i+lag] - mean)
		}
		return s
	}
	rho := 0.0
	for lag := 0; lag+1 < n; lag += 2 {
		pair := cov(lag) + cov(lag+1)
		if pair <= 0 {
			break
		}
		rho += pair / cov(0)
	}
	return min(float64(n), float64(n)/(2*rho-1))
}

func autoregressive(seed uint64, n int, r float64) []float64 {
	g := rand.New(rand.NewPCG(seed, 1))
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = g.NormFloat64()
		if i > 0 {
			xs[i] += r * xs[i-1]
		}
	}
	return xs
}

func TestEffectiveN(t *testing.T) {
	for seed, r := range []float64{0, 0.5, 0.9, -0.4} {
		xs := autoregressive(uint64(seed), 700, r)
		if got, want := EffectiveN(xs), slowEffective(xs); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("r %v: %v, by definition %v", r, got, want)
		}
	}
	xs := autoregressive(9, 100_000, 0.8)
	if got, want := EffectiveN(xs)/100_000, 0.2/1.8; math.Abs(got/want-1) > 0.1 {
		t.Errorf("share of independent values %.4f, theory (1-r)/(1+r) = %.4f", got, want)
	}
	for _, flat := range [][]int64{nil, {5}, {5, 5, 5, 5, 5}} {
		if got := EffectiveN(flat); got != float64(len(flat)) {
			t.Errorf("%v: effective n %v", flat, got)
		}
	}
}

// TestEffectiveNQuantile: rare slow values that come in batches of ten are worth a tenth for p99, whatever the rest does.
func TestEffectiveNQuantile(t *testing.T) {
	g := rand.New(rand.NewPCG(7, 7))
	xs := make([]int64, 0, 50_000)
	for len(xs) < cap(xs) {
		slow := g.Float64() < 0.0105
		for range 10 {
			x := g.Int64N(1000)
			if slow {
				x += 10_000
			}
			xs = append(xs, x)
		}
	}
	if got := EffectiveNQuantile(xs, 0.99) / float64(len(xs)); got < 0.07 || got > 0.14 {
		t.Errorf("p99 has %.3f of its values' worth, want about 0.1", got)
	}
	if got := EffectiveNQuantile(xs, 0.2) / float64(len(xs)); got < 0.8 {
		t.Errorf("p20 has %.3f of its values' worth, want about 1", got)
	}
}
