package stats

import "math"

// BinomialChance returns the two-sided chance of a count as far from its mean as k of n at probability p: twice the smaller
// tail that contains k, at most 1; NaN when k is not within 0..n.
func BinomialChance(n, k int64, p float64) float64 {
	switch {
	case k < 0 || k > n:
		return math.NaN()
	case p <= 0 && k == 0, p >= 1 && k == n:
		return 1
	case p <= 0, p >= 1:
		return 0
	}
	atMost := binomialCDF(int(k), int(n), p)
	atLeast := binomialCDF(int(n-k), int(n), 1-p) // the misses are binomial too; 1 - CDF would lose a far tail
	return min(1, 2*min(atMost, atLeast))
}
