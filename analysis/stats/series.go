package stats

import "math"

// Mean returns the arithmetic mean; NaN when there are no values.
func Mean[T Number](xs []T) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	var sum, lost float64 // Kahan: the sum of 262,144 ns values must not depend on their order in the printed digits
	for _, x := range xs {
		y := float64(x) - lost
		t := sum + y
		lost = (t - sum) - y
		sum = t
	}
	return sum / float64(len(xs))
}

// Lag1 returns the lag-1 autocorrelation of a series in its order of completion, within [-1, 1]; 0 for fewer than three
// values or a constant series. Near 0 means that neighbours tell nothing about each other.
func Lag1[T Number](xs []T) float64 {
	if len(xs) < 3 {
		return 0
	}
	mean := Mean(xs)
	var num, den float64
	for i, x := range xs {
		d := float64(x) - mean
		den += d * d
		if i > 0 {
			num += d * (float64(xs[i-1]) - mean)
		}
	}
	if den == 0 {
		return 0
	}
	return num / den
}
