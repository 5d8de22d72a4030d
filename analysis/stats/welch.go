package stats

import "math"

// Part is one term of a difference between means: its value, its squared standard error and the degrees of freedom behind that.
type Part struct {
	N      int
	Mean   float64
	Error2 float64
	DF     float64
}

// MeanOf is the mean of independent values as a part; ok is false below two values, which have no error.
func MeanOf(xs []float64) (p Part, ok bool) {
	n := float64(len(xs))
	p = Part{N: len(xs), Mean: Mean(xs)}
	if len(xs) < 2 {
		return p, false
	}
	p.Error2, p.DF = Variance(xs)/n, n-1
	return p, true
}

// Times is the part multiplied by a constant.
func (p Part) Times(f float64) Part {
	p.Mean, p.Error2 = f*p.Mean, f*f*p.Error2
	return p
}

// Sum adds independent parts of unequal variance. N is the least of theirs.
// Source: degrees of freedom after F. E. Satterthwaite, Biometrics Bulletin 2 (1946).
func Sum(parts ...Part) Estimate {
	e := Estimate{N: parts[0].N}
	var error2, weighted float64
	for _, p := range parts {
		e.N = min(e.N, p.N)
		e.Mean += p.Mean
		e.DF += p.DF
		error2 += p.Error2
		weighted += p.Error2 * p.Error2 / p.DF
	}
	e.Var = error2 * float64(e.N)
	if weighted > 0 {
		e.DF = error2 * error2 / weighted
	}
	return e
}

// Welch compares two independent sets of values, such as logarithms of runs that share no block: the difference of their means and
// its standard error with unequal variances. ok is false below two values on either side.
// Source: B. L. Welch, Biometrika 34 (1947).
func Welch(a, b []float64) (e Estimate, ok bool) {
	x, okA := MeanOf(a)
	y, okB := MeanOf(b)
	if !okA || !okB {
		return Estimate{N: min(len(a), len(b)), Mean: x.Mean - y.Mean}, false
	}
	return Sum(x, y.Times(-1)), true
}

// BeyondP is the one-sided p-value against "the ratio is at most 1+margin": small when it is shown to be greater.
func (e Estimate) BeyondP(margin float64) float64 {
	over := e.Mean - math.Log1p(margin)
	switch {
	case e.Var > 0:
		return tSurvival(over/e.Error(), e.DF)
	case over > 0:
		return 0
	}
	return 1
}

// OutsideP is the two-sided p-value against "the ratio lies inside 1/(1+margin) to 1+margin": small when it is shown to lie outside.
func (e Estimate) OutsideP(margin float64) float64 {
	mirror := e
	mirror.Mean = -e.Mean
	return min(1, 2*min(e.BeyondP(margin), mirror.BeyondP(margin)))
}
