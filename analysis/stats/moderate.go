package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a mean log ratio with the moderated variance of one block's difference.
type Estimate struct {
	N    int
	Mean float64 // of ln(I/J)
	Var  float64 // moderated, of one difference
	DF   float64
}

// Moderate joins a pair's own variance with its profile's: (d0 s0^2 + (n-1) s^2) / (d0 + n-1), where s0^2 = 2 MSE, on
// d0 + n-1 degrees of freedom, but not more than the MSE itself has. ok is false below two blocks.
// It rests on a model: noise of the columns drawn from one scaled inverse chi-square distribution.
// Source: Smyth (2004), equation 3; the cap is limma's.
func Moderate(p Pair, mse, mseDF, d0 float64) (e Estimate, ok bool) {
	n := len(p.D)
	if n < 2 {
		return Estimate{N: n, Mean: p.Mean}, false
	}
	own := float64(n - 1)
	e = Estimate{N: n, Mean: p.Mean, Var: 2 * mse, DF: max(own, mseDF)}
	if !math.IsInf(d0, 1) {
		e.Var = (d0*2*mse + own*p.Var) / (d0 + own)
		e.DF = min(d0+own, e.DF)
	}
	return e, true
}

// Error is the standard error of the mean log ratio.
func (e Estimate) Error() float64 { return math.Sqrt(e.Var / float64(e.N)) }

// Half returns the half width of the two-sided interval of one comparison at a level such as 0.95.
func (e Estimate) Half(level float64) float64 { return TQuantile((1+level)/2, e.DF) * e.Error() }

// P is the two-sided p-value of no difference; 1 when both difference and error are zero.
func (e Estimate) P() float64 {
	if e.Mean == 0 {
		return 1
	}
	if e.Var == 0 {
		return 0
	}
	return 2 * tSurvival(math.Abs(e.Mean)/e.Error(), e.DF)
}

// EquivalenceP is the p-value of "the ratio is outside 1/(1+margin) to 1+margin": the greater of two one-sided tests. Below
// 0.05 the columns are equal within the margin, which is the same as the 90 % interval lying inside.
// Source: D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
func (e Estimate) EquivalenceP(margin float64) float64 {
	room := math.Log1p(margin) - math.Abs(e.Mean)
	if e.Var == 0 {
		if room > 0 {
			return 0
		}
		return 1
	}
	return tSurvival(room/e.Error(), e.DF)
}

// Needed returns about how many blocks would decide whether two columns are equal within the margin: var (2 z(.95))^2 /
// ln(1+margin)^2, where z(.95) = 1.645. Source: Schuirmann (1987) with the normal approximation, 95 % power at equality.
func (e Estimate) Needed(margin float64) int {
	n := e.Var * math.Pow(2*1.645/math.Log1p(margin), 2)
	return max(2, int(math.Ceil(min(n, 1e9))))
}

// TQuantile is the quantile of Student's t; df may be any positive number, +Inf being the normal distribution.
func TQuantile(p, df float64) float64 {
	if df > 1e6 {
		return distuv.UnitNormal.Quantile(p)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

func tSurvival(t, df float64) float64 {
	if df > 1e6 {
		return distuv.UnitNormal.Survival(t)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Survival(t)
}
