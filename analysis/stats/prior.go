package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// PriorDF estimates d0, the degrees of freedom that the common noise of a profile is worth beside a pair's own variance:
// trigamma(d0/2) = var(ln s^2) - trigamma(df/2), the variance taken within profiles and pooled over them. It is +Inf when
// the variances scatter no more than equal noise would make them, and 0 when there is nothing to learn from.
// A zero variance counts as 1e-5 of its profile's median, because the logarithm needs a number.
// Source: G. K. Smyth, "Linear models and empirical Bayes methods", SAGMB 3 (2004), section 6.2; the floor is limma's.
func PriorDF(profiles [][]Pair) float64 {
	var squares, expected, df float64
	for _, pairs := range profiles {
		e, tri := logVariances(pairs)
		if len(e) < 2 {
			continue
		}
		squares += Variance(e) * float64(len(e)-1)
		expected += Mean(tri) * float64(len(e)-1)
		df += float64(len(e) - 1)
	}
	if df == 0 {
		return 0
	}
	excess := (squares - expected) / df
	if excess <= 0 {
		return math.Inf(1)
	}
	return 2 * trigammaInverse(excess)
}

// logVariances returns ln s^2 of each pair less its expectation for noise of one, and the variance that it has by chance.
func logVariances(pairs []Pair) (e, tri []float64) {
	var vars []float64
	for _, p := range pairs {
		if len(p.D) > 1 {
			vars = append(vars, p.Var)
		}
	}
	floor := 1e-5 * Median(vars)
	if !(floor > 0) {
		return nil, nil
	}
	for _, p := range pairs {
		if half := float64(len(p.D)-1) / 2; half > 0 {
			e = append(e, math.Log(max(p.Var, floor))-mathext.Digamma(half)+math.Log(half))
			tri = append(tri, trigamma(half))
		}
	}
	return e, tri
}

// trigamma is the second derivative of ln Gamma: the Hurwitz zeta function at 2. Source: Abramowitz and Stegun 6.4.10.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// trigammaInverse solves trigamma(y) = x for x > 0 by Newton's method on 1/trigamma, which converges from below.
// Source: Smyth (2004), appendix.
func trigammaInverse(x float64) float64 {
	switch {
	case x > 1e7:
		return 1 / math.Sqrt(x)
	case x < 1e-6:
		return 1 / x
	}
	y := 0.5 + 1/x
	for range 50 {
		tri := trigamma(y)
		step := tri * (1 - tri/x) / (-2 * mathext.Zeta(3, y)) // the derivative of trigamma is -2 zeta(3, y)
		y += step
		if -step/y < 1e-10 {
			break
		}
	}
	return y
}
