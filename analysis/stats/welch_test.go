package stats

import (
	"math"
	"testing"
)

func TestWelch(t *testing.T) {
	// By hand: means 5 and 2, variances 4 and 2/3, n 3 and 4: se^2 = 4/3 + 1/6 = 1.5, df = 2.25 / (16/18 + 1/108) = 2.5052.
	e, ok := Welch([]float64{3, 5, 7}, []float64{1, 2, 2, 3})
	if !ok || e.Mean != 3 || math.Abs(e.Error()*e.Error()-1.5) > 1e-12 || math.Abs(e.DF-2.25/(16.0/18+1.0/108)) > 1e-9 || e.N != 3 {
		t.Errorf("%+v, error %v", e, e.Error())
	}
	if half := e.Half(0.95); math.Abs(half-TQuantile(0.975, e.DF)*math.Sqrt(1.5)) > 1e-9 {
		t.Errorf("half width %v", half)
	}
	if _, ok := Welch([]float64{1}, []float64{1, 2}); ok {
		t.Error("one value has a variance")
	}
}

func TestBeyond(t *testing.T) {
	e := Estimate{N: 4, Mean: math.Log(1.05), Var: 0.01, DF: 6}
	if p := e.BeyondP(0.05); math.Abs(p-0.5) > 1e-12 {
		t.Errorf("at the margin %v, want 0.5", p)
	}
	if e.BeyondP(0.5) < 0.9 || e.BeyondP(-0.2) > 0.01 {
		t.Errorf("within %v, beyond %v", e.BeyondP(0.5), e.BeyondP(-0.2))
	}
	for mean, want := range map[float64]float64{1: 0, -1: 1} {
		if p := (Estimate{N: 3, Mean: mean}).BeyondP(0.05); p != want {
			t.Errorf("without noise, mean %v: %v", mean, p)
		}
	}
}
