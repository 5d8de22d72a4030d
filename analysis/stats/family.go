package stats

import "math"

// Level is the error rate of every test and the complement of every interval's level.
const Level = 0.05

// Comparison is one pair of columns of one profile. Every field is on the log scale.
type Comparison struct {
	I, J int       // columns
	D    []float64 // ln(I/J), block by block, of the blocks that have both
	Estimate
	Half     float64 // of the 95 % interval of this comparison alone; NaN below two blocks
	HalfAll  float64 // of the interval that holds for all pairs of the profile at once
	P        float64 // of this comparison alone: below 0.05 exactly where Mean is farther from 0 than Half
	PAll     float64 // the same for HalfAll, by the studentized range
	Adjusted float64 // the greatest of the profile's, the Holm-Shaffer and the studentized range p-value
}

// Claim says that the two columns differ: the profile passed the gate, the pair passed Holm-Shaffer, and the simultaneous
// interval excludes 0. Because Adjusted joins all three, no interval contradicts it.
func (c Comparison) Claim() bool { return c.Adjusted < Level }

// Alone says that the interval of this comparison alone excludes 0.
func (c Comparison) Alone() bool { return c.P < Level }

// Family is one profile with all its pairs.
type Family struct {
	Gate     float64 // permutation test that no column differs
	Least    float64 // the least PAll of the pairs
	Adjusted float64 // the greater of both, Holm over the profiles
	MSE      float64 // two-way residual, NaN without pairs
	MSEDF    float64
	Pairs    []Comparison
}

// Compare decides all pairs of all profiles of one metric by one procedure; seed is for the permutations. The profiles share
// d0, which it returns too, and nothing else.
//
// The gate of a profile is the permutation test together with the least simultaneous p-value. The permutation test alone
// is exact only where all columns are equally noisy: with the published dispersions 10 % (3 blocks) to 16 % (6 blocks) of
// matrices without any difference raised an alarm, together 2 to 4 %; see TestFamilyWiseAlarms.
func Compare(profiles []Table, seed uint64) (families []Family, d0 float64) {
	return compare(profiles, criticals{}, func(t Table) float64 { return GlobalP(t, seed) })
}

func compare(profiles []Table, cs criticals, gate func(Table) float64) (families []Family, d0 float64) {
	pairs := make([][]Pair, len(profiles))
	for i, t := range profiles {
		pairs[i] = Pairs(t)
	}
	d0 = PriorDF(pairs)
	gates := make([]float64, len(profiles))
	for i, t := range profiles {
		f := newFamily(pairs[i], cs.of(max(2, present(t))), d0)
		gates[i] = math.NaN() // a profile without a comparison is no member of the family
		if f.Gate = math.NaN(); !math.IsNaN(f.Least) {
			f.Gate = gate(t)
			gates[i] = max(f.Gate, f.Least)
		}
		families = append(families, f)
	}
	for i, p := range Holm(gates) {
		families[i].adjust(p, max(2, present(profiles[i])))
	}
	return families, d0
}

// present counts the columns with at least one run.
func present(t Table) int {
	n := 0
	for _, column := range t {
		for _, y := range column {
			if !math.IsNaN(y) {
				n++
				break
			}
		}
	}
	return n
}

// newFamily estimates every pair of a profile.
func newFamily(pairs []Pair, crit *critical, d0 float64) Family {
	f := Family{Least: math.NaN()}
	f.MSE, f.MSEDF = ResidualMSE(pairs)
	for _, p := range pairs {
		nan := math.NaN()
		c := Comparison{I: p.I, J: p.J, D: p.D, Half: nan, HalfAll: nan, P: nan, PAll: nan, Adjusted: nan}
		e, ok := Moderate(p, f.MSE, f.MSEDF, d0)
		if c.Estimate = e; ok {
			at := crit.at(e.DF)
			c.Half, c.HalfAll = at.one*e.Error(), at.all*e.Error()
			c.P, c.PAll = agree(e.P(), e.Mean, c.Half), agree(crit.p(e, at), e.Mean, c.HalfAll)
			if !(f.Least <= c.PAll) {
				f.Least = c.PAll
			}
		}
		f.Pairs = append(f.Pairs, c)
	}
	return f
}

// adjust joins the profile's p-value with Holm-Shaffer over its pairs and with each pair's own simultaneous one.
func (f *Family) adjust(profile float64, columns int) {
	f.Adjusted = profile
	alone := make([]float64, len(f.Pairs))
	for i, c := range f.Pairs {
		alone[i] = c.P
	}
	for i, p := range HolmShaffer(alone, columns) {
		if c := &f.Pairs[i]; !math.IsNaN(p) {
			c.Adjusted = max(p, profile, c.PAll)
		}
	}
}

// agree lets the interval decide where a p-value lies within rounding of Level.
func agree(p, mean, half float64) float64 {
	if math.Abs(mean) > half {
		return min(p, math.Nextafter(Level, 0))
	}
	return max(p, Level)
}
