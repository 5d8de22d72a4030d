package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func table(r *rand.Rand, k, n int, missing float64) Table {
	t := make(Table, k)
	for c := range t {
		for range n {
			y := r.NormFloat64()
			if r.Float64() < missing {
				y = math.NaN()
			}
			t[c] = append(t[c], y)
		}
	}
	return t
}

// TestResidualMSEIsTwoWay compares the mean of the pairs' variances with the residuals written out.
func TestResidualMSEIsTwoWay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range [][2]int{{2, 2}, {3, 5}, {7, 3}, {11, 10}} {
		k, n := size[0], size[1]
		y := table(r, k, n, 0)
		sum, all := 0.0, 0.0
		rows, cols := make([]float64, k), make([]float64, n)
		for c := range y {
			for b, v := range y[c] {
				rows[c] += v / float64(n)
				cols[b] += v / float64(k)
				all += v / float64(n*k)
			}
		}
		for c := range y {
			for b, v := range y[c] {
				e := v - rows[c] - cols[b] + all
				sum += e * e
			}
		}
		wantDF := float64((k - 1) * (n - 1))
		mse, df := ResidualMSE(Pairs(y))
		if math.Abs(mse-sum/wantDF) > 1e-12 || math.Abs(df-wantDF) > 1e-9 {
			t.Errorf("%d columns, %d blocks: MSE %v on %v, want %v on %v", k, n, mse, df, sum/wantDF, wantDF)
		}
	}
	if _, df := ResidualMSE(Pairs(table(r, 7, 1, 0))); df != 0 {
		t.Errorf("one block leaves %v degrees of freedom", df)
	}
}

func TestTrigammaInverse(t *testing.T) {
	if math.Abs(trigamma(1)-math.Pi*math.Pi/6) > 1e-12 || math.Abs(trigamma(0.5)-math.Pi*math.Pi/2) > 1e-12 {
		t.Errorf("trigamma(1) = %v, trigamma(1/2) = %v", trigamma(1), trigamma(0.5))
	}
	for _, y := range []float64{1e-4, 0.3, 0.925, 1, 7, 1e5} {
		if got := trigammaInverse(trigamma(y)); math.Abs(got/y-1) > 1e-5 {
			t.Errorf("inverse of trigamma(%v) = %v", y, got)
		}
	}
}

// TestPriorDFFindsTheTruth draws variances from a scaled inverse chi-square distribution with known degrees of freedom.
func TestPriorDFFindsTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	chi2 := func(df int) (s float64) {
		for range df {
			s += math.Pow(r.NormFloat64(), 2)
		}
		return s
	}
	for _, d0 := range []int{2, 4, 10} {
		var profiles [][]Pair
		for range 400 {
			var ps []Pair
			for range 21 {
				ps = append(ps, Pair{D: make([]float64, 3), Var: float64(d0) / chi2(d0) * chi2(2) / 2})
			}
			profiles = append(profiles, ps)
		}
		if got := PriorDF(profiles); math.Abs(got/float64(d0)-1) > 0.15 {
			t.Errorf("d0 %d estimated as %.2f", d0, got)
		}
	}
}

func TestPriorDFEdges(t *testing.T) {
	same := []Pair{{D: make([]float64, 3), Var: 2}, {D: make([]float64, 3), Var: 2}, {D: make([]float64, 3), Var: 2}}
	if got := PriorDF([][]Pair{same}); !math.IsInf(got, 1) {
		t.Errorf("equal variances: d0 %v, want +Inf", got)
	}
	zero := []Pair{{D: make([]float64, 3)}, {D: make([]float64, 3)}, {D: make([]float64, 3), Var: 1}}
	for name, profiles := range map[string][][]Pair{"nothing": nil, "one pair": {same[:1]}, "mostly zero": {zero}} {
		if got := PriorDF(profiles); got != 0 {
			t.Errorf("%s: d0 %v, want 0", name, got)
		}
	}
}

// TestModerateByHand works one pair out on paper: d = 0.1, 0.2, 0.3; s^2 = 0.01 on 2; MSE 0.02; d0 = 2.
func TestModerateByHand(t *testing.T) {
	p := newPair(Table{{0.1, 0.2, 0.3, math.NaN()}, {0, 0, 0, 0}}, 0, 1)
	e, ok := Moderate(p, 0.02, 12, 2)
	if !ok || e.N != 3 || math.Abs(e.Var-0.025) > 1e-12 || e.DF != 4 || math.Abs(e.Mean-0.2) > 1e-12 {
		t.Fatalf("%+v, %t", e, ok)
	}
	if want := 2.7764451 * math.Sqrt(0.025/3); math.Abs(e.Half(0.95)-want) > 1e-7 {
		t.Errorf("half width %v, want %v", e.Half(0.95), want)
	}
	if e, _ := Moderate(p, 0.02, 12, math.Inf(1)); e.Var != 0.04 || e.DF != 12 {
		t.Errorf("infinite d0: %+v, want the MSE alone", e)
	}
	if e, _ := Moderate(p, 0.02, 12, 0); math.Abs(e.Var-0.01) > 1e-12 || e.DF != 2 {
		t.Errorf("d0 0: %+v, want the plain paired t", e)
	}
	if _, ok := Moderate(newPair(Table{{1}, {2}}, 0, 1), math.NaN(), 0, 1); ok {
		t.Error("one block has an interval")
	}
	if want := int(math.Ceil(0.025 * 10.8241 / 0.0023805)); e.Needed(0.05) != want {
		t.Errorf("needed %d, want %d", e.Needed(0.05), want)
	}
}

// TestEquivalenceIsThe90Interval: both say the same for any numbers.
func TestEquivalenceIsThe90Interval(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for range 2000 {
		e := Estimate{N: 2 + r.IntN(9), Mean: 0.05 * r.NormFloat64(), Var: math.Exp(2*r.NormFloat64() - 8), DF: 1 + 10*r.Float64()}
		margin := []float64{0.05, 0.15, 0.25}[r.IntN(3)]
		inside := math.Abs(e.Mean)+e.Half(0.90) < math.Log1p(margin)
		if (e.EquivalenceP(margin) < Level) != inside {
			t.Fatalf("%+v margin %v: p %v, 90 %% interval inside %t", e, margin, e.EquivalenceP(margin), inside)
		}
	}
}
