package stats

import "gonum.org/v1/gonum/mathext"

// MedianInterval returns the ranks (from 1) of the narrowest symmetric pair of order statistics of n runs that holds the
// median of the population with at least 95 %, and that probability, 1 - 2 P(Bin(n, 1/2) < low). ok is false below six
// runs, where even [1, n] holds less.
// Source: H. A. David and H. N. Nagaraja, "Order Statistics", 3rd ed. (2003), section 7.1.
func MedianInterval(n int) (low, high int, coverage float64, ok bool) {
	for l := n / 2; l >= 1; l-- {
		if c := 1 - 2*binomialCDF(l-1, n, 0.5); c >= 0.95 {
			return l, n + 1 - l, c, true
		}
	}
	return 0, 0, 0, false
}

// UpperRank returns the least rank r (from 1) such that the r-th of n independent sorted values is at or above quantile p
// with the given confidence: P(Bin(n, p) < r) >= confidence. ok is false when not even the greatest value is: print "no
// upper bound". With p = 0.99 a one-sided 95 % bound exists from n = 299; the upper end of a two-sided one (confidence
// 0.975) from 368; with p = 0.999 from 2,995 and 3,688.
// Source: David and Nagaraja (2003), section 7.1.
func UpperRank(n int, p, confidence float64) (rank int, ok bool) {
	if n < 1 || binomialCDF(n-1, n, p) < confidence {
		return 0, false
	}
	low, high := 1, n
	for low < high {
		if mid := (low + high) / 2; binomialCDF(mid-1, n, p) >= confidence {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low, true
}

// binomialCDF is P(Bin(n, p) <= k) by the incomplete beta function. Source: Abramowitz and Stegun 26.5.24.
func binomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

// QuantileLinear is the quantile p of ascending values by the rule that interpolates between ranks, position (n-1)p from 0;
// 0 when there are none. Tables never use it: it only shows whether a conclusion depends on the rule.
// Source: R. J. Hyndman and Y. Fan, The American Statistician 50 (1996), definition 7.
func QuantileLinear[T Number](sorted []T, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	position := float64(len(sorted)-1) * p
	i := int(position)
	if i+1 >= len(sorted) {
		return float64(sorted[len(sorted)-1])
	}
	return float64(sorted[i]) + (position-float64(i))*float64(sorted[i+1]-sorted[i])
}
