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

// BinomialBand returns the least and the greatest count of n at probability p that are not in a tail of chance/2: a count
// outside has at most that chance on its side. It is the acceptance region behind the intervals of C. Clopper and E. Pearson,
// "The use of confidence or fiducial limits", Biometrika 26 (1934), and exact where the normal band is not.
func BinomialBand(n int64, p, chance float64) (lo, hi int64) {
	return binomialLow(n, p, chance/2), n - binomialLow(n, 1-p, chance/2)
}

// binomialLow is the least k with P(X <= k) > tail.
func binomialLow(n int64, p, tail float64) int64 {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return n
	}
	lo, hi := int64(0), n
	for lo < hi {
		mid := lo + (hi-lo)/2
		if binomialCDF(int(mid), int(n), p) > tail {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
