package stats

import "math"

// MedianCoverage returns the probability that the median of the population lies between the least and the greatest of n
// independent runs: 1 - 2^(1-n). It is 0.75 for 3, 0.9375 for 5 and first exceeds 0.95 at 6.
func MedianCoverage(n int) float64 {
	if n < 1 {
		return 0
	}
	return 1 - math.Pow(2, float64(1-n))
}

// OutsideChance returns the probability that one more run falls outside the range of n exchangeable runs: 2/(n+1).
func OutsideChance(n int) float64 {
	if n < 1 {
		return 1
	}
	return 2 / float64(n+1)
}

// MinSamplesP99 is the least number of independent samples for which a one-sided 95 % upper confidence bound of p99 exists:
// the least n with 0.99^n <= 0.05.
const MinSamplesP99 = 299
