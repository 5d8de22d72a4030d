package stats

import "math"

// Table is one profile: the natural logarithm of column c in block b at [c][b]; NaN where the run is missing. All columns
// have the same number of blocks.
type Table [][]float64

// Pair is what two columns of one profile differ by, inside blocks alone: a block that lacks one of the two runs is out.
type Pair struct {
	I, J int       // columns
	D    []float64 // ln(I/J), block by block
	Mean float64   // of D; NaN without blocks
	Var  float64   // of D, on len(D)-1 degrees of freedom; NaN below two blocks
}

// Pairs returns every pair of columns, I < J, in order.
func Pairs(t Table) []Pair {
	var out []Pair
	for i := range t {
		for j := i + 1; j < len(t); j++ {
			out = append(out, newPair(t, i, j))
		}
	}
	return out
}

func newPair(t Table, i, j int) Pair {
	p := Pair{I: i, J: j}
	for b := range t[i] {
		if d := t[i][b] - t[j][b]; !math.IsNaN(d) && !math.IsInf(d, 0) {
			p.D = append(p.D, d)
		}
	}
	p.Mean, p.Var = Mean(p.D), Variance(p.D)
	return p
}

// Variance returns the unbiased sample variance; NaN below two values.
func Variance(xs []float64) float64 {
	if len(xs) < 2 {
		return math.NaN()
	}
	mean, sum := Mean(xs), 0.0
	for _, x := range xs {
		sum += (x - mean) * (x - mean)
	}
	return sum / float64(len(xs)-1)
}

// ResidualMSE returns the mean square of the two-way residuals y_cb - y_c. - y_.b + y_.. and its degrees of freedom,
// (k-1)(n-1) for a full table. It is computed as half the mean of the pairs' variances weighted by their degrees of
// freedom, which is the same number for a full table and stays defined when runs are missing. NaN and 0 without a pair.
// Source: H. Scheffé, "The Analysis of Variance" (1959), section 4.2.
func ResidualMSE(pairs []Pair) (mse, df float64) {
	columns := map[int]bool{}
	var sum, weight float64
	for _, p := range pairs {
		if w := float64(len(p.D) - 1); w >= 1 {
			sum += w * p.Var
			weight += w
			columns[p.I], columns[p.J] = true, true
		}
	}
	if weight == 0 {
		return math.NaN(), 0
	}
	return sum / weight / 2, 2 * weight / float64(len(columns))
}
