package stats

import "math"

// Components splits the variance of repeated values into that within runs and that between runs, by one-way analysis of
// variance with random runs: between = (MS between - MS within) / n0, not below 0. NaN where a part cannot be told: fewer
// than two runs, or no run with two values. More values per run cannot shrink the first part's share of a run's mean.
// Source: Kalibera and Jones, ISMM 2013, section 6; S. R. Searle, "Variance Components" (1992), section 3.6.
func Components(runs [][]float64) (within, between float64) {
	var total, squares, ssWithin, dfWithin float64
	var sum, groups float64
	for _, r := range runs {
		n := float64(len(r))
		if n == 0 {
			continue
		}
		groups++
		total += n
		squares += n * n
		sum += n * Mean(r)
		if n > 1 {
			ssWithin += Variance(r) * (n - 1)
			dfWithin += n - 1
		}
	}
	if groups < 2 || dfWithin == 0 {
		return math.NaN(), math.NaN()
	}
	within = ssWithin / dfWithin
	ssBetween := 0.0
	for _, r := range runs {
		if len(r) > 0 {
			d := Mean(r) - sum/total
			ssBetween += float64(len(r)) * d * d
		}
	}
	n0 := (total - squares/total) / (groups - 1)
	return within, max(0, (ssBetween/(groups-1)-within)/n0)
}

// Jain is the fairness index (sum x)^2 / (n sum x^2) of rates: 1 when all are equal, 1/n when one has everything; NaN without
// a positive rate. Source: Jain, Chiu and Hawe, DEC TR-301 (1984).
func Jain(rates []float64) float64 {
	var sum, squares float64
	for _, x := range rates {
		sum += x
		squares += x * x
	}
	return sum * sum / (float64(len(rates)) * squares)
}
