package stats

import (
	"math"
	"slices"
	"sort"
)

// dipCritical holds the 95 % and 99 % points of sqrt(n) times the dip of n independent uniform values, the unimodal
// distribution that dips most. Simulated with 40,000 draws up to n = 500 and 10,000 above; the error of the points is
// about 1 %. TestDipCriticalValues draws some of them again.
var dipCritical = []struct{ n, p95, p99 float64 }{
	{10, 0.4410, 0.5038},
	{20, 0.4700, 0.5408},
	{30, 0.4821, 0.5582},
	{50, 0.4985, 0.5739},
	{100, 0.5106, 0.5890},
	{200, 0.5212, 0.6051},
	{500, 0.5296, 0.6139},
	{1000, 0.5302, 0.6211},
	{2000, 0.5388, 0.6325},
	{5000, 0.5379, 0.6284},
	{20000, 0.5554, 0.6339},
}

// dipPoint returns the dip that n independent values of a unimodal distribution exceed with probability 0.05 (or, strict, 0.01),
// interpolated in sqrt(n) times dip as Hartigan and Hartigan (1985) advise. n may be an effective sample size.
func dipPoint(n float64, strict bool) float64 {
	pick := func(i int) float64 {
		if strict {
			return dipCritical[i].p99
		}
		return dipCritical[i].p95
	}
	last := len(dipCritical) - 1
	i := sort.Search(len(dipCritical), func(i int) bool { return dipCritical[i].n >= n })
	switch {
	case i == 0:
		return pick(0) / math.Sqrt(dipCritical[0].n)
	case i > last:
		return pick(last) / math.Sqrt(n)
	}
	a, b := dipCritical[i-1].n, dipCritical[i].n
	t := (math.Log(n) - math.Log(a)) / (math.Log(b) - math.Log(a))
	return (pick(i-1) + t*(pick(i)-pick(i-1))) / math.Sqrt(n)
}

const (
	// poolFrom is the least number of runs whose values may be pooled to look for two modes.
	poolFrom = 20
	// leastDip keeps a significant but tiny dip from counting: a mode far from the rest that holds a share w of the values
	// has a dip of about w/2, so this is a mode of at least 5 %. Clock granularity and receive batches make smaller ones in every long series.
	leastDip = 0.025
)

// BimodalSeries says whether one within-run series of n values has two modes: its dip exceeds the 1 % critical value for the
// number of independent values, n (1-r)/(1+r) with the lag-1 autocorrelation r, and 0.025.
func BimodalSeries(dip float64, n int, lag1 float64) bool {
	r := min(max(lag1, 0), 0.999)
	effective := float64(n) * (1 - r) / (1 + r)
	return effective >= 10 && dip > max(leastDip, dipPoint(effective, true))
}

// BimodalRuns says whether the values of a cell's runs have two modes, and whether that can be told: only from 20 runs on.
func BimodalRuns(values []float64) (bimodal, known bool) {
	if len(values) < poolFrom {
		return false, false
	}
	s := slices.Clone(values)
	slices.Sort(s)
	return Dip(s) > dipPoint(float64(len(s)), true), true
}
