package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Floors returns, for each profile, the least log ratio that can be claimed: t(.975; d0+n-1) s~ / sqrt(n), from one column
// that ran twice under two names. One difference is one draw, so the variances are moderated over the profiles, with both d0 and s0^2
// estimated from them. NaN where the profile has fewer than two blocks.
// Source: Smyth (2004), section 6.2.
func Floors(aa []Pair) []float64 {
	d0 := PriorDF([][]Pair{aa})
	e, _ := logVariances(aa)
	s0 := math.Exp(Mean(e))
	if d0 > 0 && !math.IsInf(d0, 1) {
		s0 = math.Exp(Mean(e) + mathext.Digamma(d0/2) - math.Log(d0/2))
	}
	df := 0.0
	for _, p := range aa {
		df += math.Max(0, float64(len(p.D)-1))
	}
	out := make([]float64, len(aa))
	for i, p := range aa {
		out[i] = math.NaN()
		if est, ok := Moderate(p, priorMSE(s0, e), df, d0); ok {
			out[i] = est.Half(1 - Level)
		}
	}
	return out
}

// priorMSE is half the prior variance of a difference; 0 where there is no prior, whose d0 is 0 too.
func priorMSE(s0 float64, e []float64) float64 {
	if len(e) == 0 {
		return 0
	}
	return s0 / 2
}
