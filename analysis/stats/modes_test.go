package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDipCriticalValues draws a part of the simulation again with another seed.
func TestDipCriticalValues(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{20, 75, 200} {
		const draws = 6000
		above95, above99 := 0, 0
		xs := make([]float64, n)
		for range draws {
			for i := range xs {
				xs[i] = r.Float64()
			}
			slices.Sort(xs)
			d := Dip(xs)
			if d > dipPoint(float64(n), false) {
				above95++
			}
			if d > dipPoint(float64(n), true) {
				above99++
			}
		}
		if a := float64(above95) / draws; math.Abs(a-0.05) > 0.01 {
			t.Errorf("n=%d: %.4f of uniform samples exceed the 5 %% point", n, a)
		}
		if a := float64(above99) / draws; math.Abs(a-0.01) > 0.005 {
			t.Errorf("n=%d: %.4f of uniform samples exceed the 1 %% point", n, a)
		}
	}
}

func TestBimodalRunsNeedsTwenty(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	one, two := make([]float64, 30), make([]float64, 30)
	for i := range one {
		one[i] = 100 + r.NormFloat64()
		two[i] = one[i] + float64(i%2)*20
	}
	if b, known := BimodalRuns(two); !b || !known {
		t.Errorf("two modes: %t, %t", b, known)
	}
	if b, known := BimodalRuns(one); b || !known {
		t.Errorf("one mode: %t, %t", b, known)
	}
	if b, known := BimodalRuns(two[:19]); b || known {
		t.Errorf("19 runs: %t, %t; below 20 nothing is pooled", b, known)
	}
}

func TestBimodalSeries(t *testing.T) {
	for name, c := range map[string]struct {
		dip  float64
		n    int
		lag1 float64
		want bool
	}{
		"clear":                   {0.10, 5000, 0.1, true},
		"tiny but significant":    {0.02, 200_000, 0, false},
		"few independent values":  {0.06, 1000, 0.92, false},
		"short":                   {0.20, 8, 0, false},
		"negative lag is no gain": {0.05, 100, -0.9, false},
	} {
		if got := BimodalSeries(c.dip, c.n, c.lag1); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestFloors(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	var aa []Pair
	for range 25 {
		aa = append(aa, newPair(table(r, 2, 3, 0), 0, 1))
	}
	aa = append(aa, newPair(Table{{1}, {1}}, 0, 1))
	fs := Floors(aa)
	want := TQuantile(0.975, 50) * math.Sqrt(2.0/3)
	for i, f := range fs[:25] {
		if f < want/3 || f > 3*want {
			t.Errorf("profile %d: floor %v, want about %v", i, f, want)
		}
	}
	if !math.IsNaN(fs[25]) {
		t.Errorf("one block has a floor of %v", fs[25])
	}
	if f := Floors([]Pair{newPair(Table{{1, 1}, {1, 1}}, 0, 1)}); f[0] != 0 {
		t.Errorf("no noise: floor %v", f[0])
	}
}

func TestComponents(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	var runs [][]float64
	for range 400 {
		level := 3 * r.NormFloat64()
		var run []float64
		for range 5 + r.IntN(10) {
			run = append(run, level+2*r.NormFloat64())
		}
		runs = append(runs, run)
	}
	if w, b := Components(runs); math.Abs(w-4) > 0.4 || math.Abs(b-9) > 1.5 {
		t.Errorf("within %v, between %v; want about 4 and 9", w, b)
	}
	if w, b := Components([][]float64{{1, 2, 3}, {1, 2, 3}}); w != 1 || b != 0 {
		t.Errorf("equal runs: within %v, between %v", w, b)
	}
	if w, _ := Components([][]float64{{1}, {2}}); !math.IsNaN(w) {
		t.Errorf("single values: within %v", w)
	}
}

func TestJain(t *testing.T) {
	for want, rates := range map[float64][]float64{1: {2, 2, 2}, 0.25: {0, 0, 0, 7}, 0.9: {1, 2}} {
		if got := Jain(rates); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", rates, got, want)
		}
	}
	if !math.IsNaN(Jain([]float64{0, 0})) {
		t.Error("no rate at all has no fairness")
	}
}
