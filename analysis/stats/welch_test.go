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

func TestSumOfParts(t *testing.T) {
	a, b, c := []float64{3, 5, 7}, []float64{1, 2, 2, 3}, []float64{10, 14}
	x, _ := MeanOf(a)
	y, _ := MeanOf(b)
	z, _ := MeanOf(c)
	e := Sum(x, y.Times(-0.5), z.Times(-0.5))
	error2 := 4.0/3 + 0.25/6 + 0.25*4 // variances 4, 2/3 and 8
	if e.N != 2 || e.Mean != 5-1-6 || math.Abs(e.Error()*e.Error()-error2) > 1e-12 {
		t.Errorf("%+v, error %v", e, e.Error())
	}
	df := error2 * error2 / (16.0/9/2 + 0.0625/36/3 + 1)
	if math.Abs(e.DF-df) > 1e-9 {
		t.Errorf("degrees of freedom %v, want %v", e.DF, df)
	}
	if still := Sum(Part{N: 3, Mean: 1, DF: 2}, Part{N: 3, Mean: 1, DF: 2}); still.DF != 4 || still.Var != 0 {
		t.Errorf("without noise: %+v", still)
	}
}

func TestOutside(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		e := Estimate{N: 4, Mean: sign * math.Log(1.05), Var: 0.01, DF: 6}
		if p := e.OutsideP(0.05); math.Abs(p-1) > 1e-12 {
			t.Errorf("at the margin %v, want 1", p)
		}
		if p := (Estimate{N: 4, Mean: sign, Var: 0.01, DF: 6}).OutsideP(0.05); p > 0.001 {
			t.Errorf("far outside %v", p)
		}
	}
}
