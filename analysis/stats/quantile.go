// Package stats holds the only definition of every statistic that the project prints.
package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Number is what the order statistics accept.
type Number interface {
	~int | ~int64 | ~float64
}

// Rank returns the nearest-rank index of quantile p (0 < p <= 1) in n sorted values: ceil(n*p) - 1, within 0..n-1.
// A product that floating point pushes just over a whole number does not move the rank.
func Rank(n int, p float64) int {
	if n <= 0 {
		return -1
	}
	i := int(math.Ceil(float64(n)*p-1e-9*float64(n))) - 1
	return min(max(i, 0), n-1)
}

// Quantile returns the nearest-rank quantile p of ascending values; the zero value when there are none.
func Quantile[T Number](sorted []T, p float64) T {
	var zero T
	if len(sorted) == 0 {
		return zero
	}
	return sorted[Rank(len(sorted), p)]
}

// Quantiles returns the nearest-rank quantiles ps of ascending values, in the order of ps; nil when there are no values.
func Quantiles[T Number](sorted []T, ps []float64) []T {
	if len(sorted) == 0 {
		return nil
	}
	qs := make([]T, len(ps))
	for i, p := range ps {
		qs[i] = sorted[Rank(len(sorted), p)]
	}
	return qs
}

// Median returns the middle value, or the mean of the middle two; NaN when there are none. xs is not changed.
func Median[T Number](xs []T) float64 {
	n := len(xs)
	if n == 0 {
		return math.NaN()
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	if n%2 == 1 {
		return float64(s[n/2])
	}
	return float64(s[n/2-1])/2 + float64(s[n/2])/2
}

// Range returns the least and the greatest value; the zero values when there are none.
func Range[T cmp.Ordered](xs []T) (lo, hi T) {
	if len(xs) == 0 {
		return lo, hi
	}
	return slices.Min(xs), slices.Max(xs)
}

// fixedPoints is how many quantiles of an RTT series an artifact keeps.
const fixedPoints = 201

// FixedP returns the probabilities at which an artifact keeps quantiles: 201 values, ascending, with the ends 0.0005 and
// 0.9999, the exact points 0.5, 0.95, 0.99 and 0.999, and both tails resolved finer than the middle.
func FixedP() []float64 {
	ps := make([]float64, 0, fixedPoints)
	add := func(from, step, count int) { // in units of 1/10,000
		for i := range count {
			ps = append(ps, float64(from+i*step)/10000)
		}
	}
	add(5, 5, 20)      // 0.0005 .. 0.0100
	add(150, 50, 18)   // 0.0150 .. 0.1000
	add(1100, 100, 80) // 0.11 .. 0.90
	add(9050, 50, 18)  // 0.9050 .. 0.9900
	add(9905, 5, 18)   // 0.9905 .. 0.9990
	add(9991, 1, 9)    // 0.9991 .. 0.9999
	return fill(ps)
}

// fill brings the grid to its 201 points with values between 0.40 and 0.60, where bimodal series change.
func fill(ps []float64) []float64 {
	for i := 0; len(ps) < fixedPoints; i++ {
		ps = append(ps, float64(4025+50*i)/10000)
	}
	slices.Sort(ps)
	return slices.Compact(ps)
}

// At returns the value that qs (taken at FixedP) holds for p; an error when p is not a grid point.
func At(qs []int64, p float64) (int64, error) {
	for i, g := range FixedP() {
		if math.Abs(g-p) < 1e-9 && i < len(qs) {
			return qs[i], nil
		}
	}
	return 0, fmt.Errorf("quantile %v is not on the fixed grid of %d points", p, fixedPoints)
}
