package stats

import "math"

// Welch compares two independent sets of values, such as logarithms of runs that share no block: the difference of their means and
// its standard error with unequal variances. N is the smaller number of values. ok is false below two values on either side.
// Source: B. L. Welch, Biometrika 34 (1947); degrees of freedom after F. E. Satterthwaite, Biometrics Bulletin 2 (1946).
func Welch(a, b []float64) (e Estimate, ok bool) {
	e = Estimate{N: min(len(a), len(b)), Mean: Mean(a) - Mean(b)}
	if e.N < 2 {
		return e, false
	}
	va, vb := Variance(a)/float64(len(a)), Variance(b)/float64(len(b))
	e.Var = (va + vb) * float64(e.N)
	e.DF = float64(len(a) + len(b) - 2)
	if va+vb > 0 {
		e.DF = (va + vb) * (va + vb) / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	}
	return e, true
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
