package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// power is the chance that a planned number of blocks shows an effect that is there.
const power = 0.95

// levelZ is the normal quantile of the one-sided test at Level that the first step of Holm's procedure makes of so many comparisons.
func levelZ(comparisons int) float64 {
	return distuv.UnitNormal.Quantile(1 - Level/float64(max(1, comparisons)))
}

// powerZ is the sum of the quantiles of that test and of its power.
func powerZ(comparisons int) float64 {
	return levelZ(comparisons) + distuv.UnitNormal.Quantile(power)
}

// Required returns about how many blocks show an effect with 95 % power, one-sided, although Holm corrects for so many comparisons:
// variance (z + z(.95))^2 / effect^2 + z^2/2, at least 2. variance is that of one block's log ratio, effect a log ratio. 1e9 where no
// number of blocks would do.
// Source: J. M. Lachin, Controlled Clinical Trials 2 (1981); the last term, for a variance that has to be estimated: W. C. Guenther,
// The American Statistician 35 (1981).
func Required(variance, effect float64, comparisons int) int {
	if effect == 0 || math.IsNaN(effect) || math.IsNaN(variance) {
		return 1e9
	}
	ratio, z := powerZ(comparisons)/effect, levelZ(comparisons)
	return max(2, int(math.Ceil(min(variance*ratio*ratio+z*z/2, 1e9))))
}

// Visible is the inverse of Required: the least log ratio that n blocks show. +Inf where n blocks show none.
func Visible(variance float64, n, comparisons int) float64 {
	z := levelZ(comparisons)
	left := float64(n) - z*z/2
	if n < 2 || left <= 0 {
		return math.Inf(1)
	}
	return powerZ(comparisons) * math.Sqrt(variance/left)
}

// RangeOfThree estimates the standard deviation of normal values from the range of three: range / d2, d2 = 3/sqrt(pi).
// Source: L. H. C. Tippett, Biometrika 17 (1925).
func RangeOfThree(least, greatest float64) float64 {
	return (greatest - least) * math.Sqrt(math.Pi) / 3
}
