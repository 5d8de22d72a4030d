package stats

import "math"

// powerZ is the sum of the normal quantiles for a one-sided 5 % test and 95 % power, twice z(.95).
const powerZ = 2 * 1.645

// Required returns about how many blocks show an effect: variance (2 z(.95))^2 / effect^2, at least 2. variance is that of
// one block's log ratio, effect a log ratio. 1e9 where no number of blocks would do. It is optimistic for few blocks, whose
// variance is not known.
// Source: Lehr, "Sixteen S-squared over D-squared", Statistics in Medicine 11 (1992), with one-sided 5 % and 95 % power, paired.
func Required(variance, effect float64) int {
	if effect == 0 || math.IsNaN(effect) || math.IsNaN(variance) {
		return 1e9
	}
	ratio := powerZ / effect
	return max(2, int(math.Ceil(min(variance*ratio*ratio, 1e9))))
}

// Visible is the inverse of Required: the least log ratio that n blocks show. +Inf below two blocks.
func Visible(variance float64, n int) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	return powerZ * math.Sqrt(variance/float64(n))
}

// RangeOfThree estimates the standard deviation of normal values from the range of three: range / d2, d2 = 3/sqrt(pi).
// Source: L. H. C. Tippett, Biometrika 17 (1925).
func RangeOfThree(least, greatest float64) float64 {
	return (greatest - least) * math.Sqrt(math.Pi) / 3
}
