package stats

import (
	"math"
	"slices"
)

// Holm returns the p-values of a family adjusted so that at most 5 % of families with only true nulls have one below 0.05,
// in the order given. NaN means "no test": it stays NaN and does not count.
// Source: S. Holm, Scandinavian Journal of Statistics 6 (1979).
func Holm(ps []float64) []float64 {
	return stepDown(ps, func(rejected, left int) int { return left })
}

// HolmShaffer is Holm for all pairs of k columns: after some pairs differ, not every number of equal pairs is possible any
// more, so the rest is corrected for the greatest number that is.
// Source: J. P. Shaffer, Journal of the American Statistical Association 81 (1986), procedure S1.
func HolmShaffer(ps []float64, k int) []float64 {
	possible := equalPairs(k)
	return stepDown(ps, func(rejected, left int) int {
		if rejected == 0 {
			return left
		}
		all, best := k*(k-1)/2, 1
		for s := range possible {
			if possible[s] && s <= all-rejected {
				best = max(best, s)
			}
		}
		return min(best, left)
	})
}

// equalPairs says which numbers of equal pairs k columns can have: C(j, 2) of one group of equals plus those of the rest.
func equalPairs(k int) []bool {
	sets := make([][]bool, k+1)
	for n := range sets {
		sets[n] = make([]bool, n*(n-1)/2+1)
		if n < 2 {
			sets[n][0] = true
			continue
		}
		for j := 1; j <= n; j++ {
			for s, ok := range sets[n-j] {
				if ok {
					sets[n][j*(j-1)/2+s] = true
				}
			}
		}
	}
	return sets[k]
}

// stepDown multiplies the sorted p-values by what factor says and makes them ascend.
func stepDown(ps []float64, factor func(rejected, left int) int) []float64 {
	out := slices.Clone(ps)
	var order []int
	for i, p := range ps {
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	worst := 0.0
	for rank, i := range order {
		worst = max(worst, min(1, ps[i]*float64(factor(rank, len(order)-rank))))
		out[i] = worst
	}
	return out
}
