package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// draw makes one matrix with no true difference: each profile takes the published dispersions of one profile in random order;
// blocks drift by up to a factor that would swamp every column. It returns the true standard deviations too.
func draw(r *rand.Rand, spread [][]float64, blocks int) (tables []Table, sds [][]float64) {
	for range spread {
		sd := slices.Clone(spread[r.IntN(len(spread))])
		r.Shuffle(len(sd), func(i, j int) { sd[i], sd[j] = sd[j], sd[i] })
		t := make(Table, len(sd))
		for b := range blocks {
			drift := 0.4 * r.NormFloat64()
			for c := range t {
				if b == 0 {
					t[c] = make([]float64, blocks)
				}
				t[c][b] = drift + sd[c]*r.NormFloat64()
			}
		}
		tables, sds = append(tables, t), append(sds, sd)
	}
	return tables, sds
}

// evenly gives every column of a profile the same noise, as when one program runs under seven names.
func evenly(r *rand.Rand, tables []Table, spread [][]float64) {
	for _, t := range tables {
		row := spread[r.IntN(len(spread))]
		sd := row[r.IntN(len(row))]
		for c := range t {
			for b := range t[c] {
				t[c][b] = sd * r.NormFloat64()
			}
		}
	}
}

// TestFamilyWiseAlarms: at most 6.2 % of matrices without any true difference claim one somewhere, be the columns of a
// profile one program under seven names (A/A) or as unequally noisy as published.
func TestFamilyWiseAlarms(t *testing.T) {
	spread, cs := published(t), criticals{}
	for _, c := range []struct {
		blocks, matrices int
		equal            bool
	}{{3, 1000, true}, {3, 250, false}, {6, 150, true}, {6, 150, false}} {
		r := rand.New(rand.NewPCG(2027, uint64(c.blocks)))
		alarms := 0
		for range c.matrices {
			tables, _ := draw(r, spread, c.blocks)
			if c.equal {
				evenly(r, tables, spread)
			}
			families, _ := compare(tables, cs, func(t Table) float64 { return globalP(t, r.Uint64(), 3000, 20) })
			if slices.ContainsFunc(families, func(f Family) bool { return slices.ContainsFunc(f.Pairs, Comparison.Claim) }) {
				alarms++
			}
		}
		share := float64(alarms) / float64(c.matrices)
		t.Logf("n=%d, equal noise %t: %d of %d matrices raise an alarm (%.1f %%)", c.blocks, c.equal, alarms, c.matrices, 100*share)
		if share > 0.062 {
			t.Errorf("n=%d, equal noise %t: family-wise alarms %.3f, want at most 0.062", c.blocks, c.equal, share)
		}
	}
}

// covered is whether an interval held the truth, beside how noisy its pair really is.
type covered struct {
	sd float64
	in bool
}

func coverage(t *testing.T, blocks, matrices int) (overall float64, sixths [6]float64) {
	r := rand.New(rand.NewPCG(2026, uint64(blocks)))
	spread, cs := published(t), criticals{}
	var all []covered
	for range matrices {
		tables, sds := draw(r, spread, blocks)
		families, _ := compare(tables, cs, func(Table) float64 { return 1 })
		for p, f := range families {
			for _, c := range f.Pairs {
				all = append(all, covered{math.Hypot(sds[p][c.I], sds[p][c.J]), math.Abs(c.Mean) <= c.Half})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b covered) int {
		if a.sd < b.sd {
			return -1
		}
		return 1
	})
	for i, c := range all {
		if c.in {
			overall += 1 / float64(len(all))
			sixths[i*6/len(all)] += 6 / float64(len(all))
		}
	}
	return overall, sixths
}

// TestCoverage: intervals of one comparison hold the truth in 93 to 97 % of all pairs, and in 90 % of the noisiest sixth.
func TestCoverage(t *testing.T) {
	for _, blocks := range []int{3, 5, 6, 10} {
		overall, sixths := coverage(t, blocks, 60)
		t.Logf("n=%d: overall %.3f, quietest to noisiest sixth %.3f", blocks, overall, sixths)
		if overall < 0.93 || overall > 0.97 {
			t.Errorf("n=%d: coverage %.3f, want 0.93 to 0.97", blocks, overall)
		}
		if sixths[5] < 0.90 {
			t.Errorf("n=%d: coverage of the noisiest sixth %.3f, want at least 0.90", blocks, sixths[5])
		}
	}
}
