package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	gateDraws  = 100_000 // at most so many random permutations, and as many orders may be counted exactly
	gateEnough = 2_000   // as extreme draws that settle the p-value to 2 %
)

// GlobalP tests within blocks that no column differs from another: the statistic is the sum of squares between columns, and
// under the null every order of the values inside a block is as likely as any other, whatever the noise of the columns'
// common distribution. Missing runs stay where they are. It counts all orders when there are at most 100,000, else it draws up to
// as many with the seed and stops early once 2,000 were as extreme; 1 when nothing can be told. Where one of k columns stands out of
// equal ones, p cannot fall below k^(1-n): 1/49 for seven columns and three blocks.
// Source: E. S. Edgington, "Randomization Tests" (1995); early stop: J. Besag and P. Clifford, Biometrika 78 (1991).
func GlobalP(t Table, seed uint64) float64 { return globalP(t, seed, gateDraws, gateEnough) }

func globalP(t Table, seed uint64, draws, enough int) float64 {
	g := newGate(t)
	if len(g.blocks) == 0 {
		return 1
	}
	observed := g.statistic() * (1 - 1e-9) // sums in another order must still count as equal
	if orders := g.orders(); orders <= float64(draws) {
		extreme, all := g.count(0, observed)
		return float64(extreme) / float64(all)
	}
	r := rand.New(rand.NewPCG(seed, 0x5ca1ab1e))
	extreme := 0
	for i := 1; i <= draws; i++ {
		for _, b := range g.blocks {
			r.Shuffle(len(b.y), func(i, j int) { b.y[i], b.y[j] = b.y[j], b.y[i] })
		}
		if g.statistic() >= observed {
			if extreme++; extreme == enough {
				return float64(extreme) / float64(i)
			}
		}
	}
	return float64(extreme+1) / float64(draws+1)
}

// gate holds the present values of each block, less the block's mean, and which columns they belong to.
type gate struct {
	blocks []gateBlock
	runs   []float64 // by column
	sums   []float64 // scratch
}

type gateBlock struct {
	columns []int
	y       []float64
}

func newGate(t Table) *gate {
	g := &gate{runs: make([]float64, len(t)), sums: make([]float64, len(t))}
	if len(t) == 0 {
		return g
	}
	for b := range t[0] {
		var block gateBlock
		for c := range t {
			if y := t[c][b]; !math.IsNaN(y) && !math.IsInf(y, 0) {
				block.columns, block.y = append(block.columns, c), append(block.y, y)
			}
		}
		if len(block.y) < 2 {
			continue
		}
		mean := Mean(block.y)
		for i, c := range block.columns {
			block.y[i] -= mean
			g.runs[c]++
		}
		g.blocks = append(g.blocks, block)
	}
	return g
}

// statistic is the sum over columns of (sum of centred values)^2 / runs.
func (g *gate) statistic() float64 {
	clear(g.sums)
	for _, b := range g.blocks {
		for i, c := range b.columns {
			g.sums[c] += b.y[i]
		}
	}
	s := 0.0
	for c, sum := range g.sums {
		if g.runs[c] > 0 {
			s += sum * sum / g.runs[c]
		}
	}
	return s
}

// orders is the number of equally likely orders, as a float because it overflows.
func (g *gate) orders() float64 {
	n := 1.0
	for _, b := range g.blocks {
		n *= math.Gamma(float64(len(b.y) + 1))
	}
	return n
}

// count tries every order of block i and the blocks after it (Heap's algorithm) and restores them.
func (g *gate) count(i int, observed float64) (extreme, all int) {
	if i == len(g.blocks) {
		if g.statistic() >= observed {
			return 1, 1
		}
		return 0, 1
	}
	y := g.blocks[i].y
	before := slices.Clone(y)
	permute(y, len(y), func() {
		e, a := g.count(i+1, observed)
		extreme, all = extreme+e, all+a
	})
	copy(y, before)
	return extreme, all
}

func permute(y []float64, n int, visit func()) {
	if n <= 1 {
		visit()
		return
	}
	for i := range n {
		permute(y, n-1, visit)
		if j := i; i < n-1 {
			if n%2 == 1 {
				j = 0
			}
			y[j], y[n-1] = y[n-1], y[j]
		}
	}
}
