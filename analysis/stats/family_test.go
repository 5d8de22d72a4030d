package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNothingContradictsItsInterval holds for random profiles with effects, ties, zero variance and missing runs: every
// p-value is on its interval's side of 0.05, and a claim has both intervals behind it.
func TestNothingContradictsItsInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	cs, claims, unconfirmed := criticals{}, 0, 0
	for range 400 {
		families, _ := compare(randomProfiles(r), cs, func(t Table) float64 { return globalP(t, 1, 3000, 20) })
		for _, f := range families {
			for _, c := range f.Pairs {
				checkComparison(t, f, c)
				if c.Claim() {
					claims++
				} else if c.Alone() {
					unconfirmed++
				}
			}
		}
	}
	if claims < 100 || unconfirmed < 100 {
		t.Errorf("%d claims and %d that the family does not confirm: the draw does not try the rule", claims, unconfirmed)
	}
}

func randomProfiles(r *rand.Rand) []Table {
	k, n := 2+r.IntN(6), 1+r.IntN(7)
	var profiles []Table
	for range 1 + r.IntN(4) {
		t := table(r, k, n, []float64{0, 0.2}[r.IntN(2)])
		effect, noise, grid := 2*r.Float64(), math.Exp(r.NormFloat64()-1), r.IntN(3) == 0
		for c := range t {
			for b := range t[c] {
				t[c][b] = effect*float64(c) + noise*t[c][b]
				if grid {
					t[c][b] = math.Round(2*t[c][b]) / 2
				}
			}
		}
		profiles = append(profiles, t)
	}
	return profiles
}

func checkComparison(t *testing.T, f Family, c Comparison) {
	t.Helper()
	if math.IsNaN(c.P) {
		if c.Claim() || c.N >= 2 || !math.IsNaN(c.Half) {
			t.Fatalf("without two blocks: %+v", c)
		}
		return
	}
	far := math.Abs(c.Mean)
	switch {
	case c.Alone() != (far > c.Half):
		t.Fatalf("p %v beside an interval of %v for %v", c.P, c.Half, c.Mean)
	case (c.PAll < Level) != (far > c.HalfAll):
		t.Fatalf("simultaneous p %v beside %v for %v", c.PAll, c.HalfAll, c.Mean)
	case c.HalfAll < c.Half || c.PAll < c.P:
		t.Fatalf("simultaneous is narrower: %+v", c)
	case c.Claim() && (far <= c.HalfAll || f.Adjusted >= Level):
		t.Fatalf("claim without its interval or gate: %+v", c)
	}
}

func TestCompareEdges(t *testing.T) {
	nan := math.NaN()
	families, d0 := Compare([]Table{
		{{1}, {2}},             // one block
		{{1, 1, 1}, {2, 2, 2}}, // no noise at all
		{{1, 1, 1}, {1, 1, 1}}, // nor a difference
		{{nan, nan}, {1, 2}},   // nothing in common
		{}, {{1, 2, 3}},        // no pair
	}, 1)
	if d0 != 0 || len(families) != 6 {
		t.Fatalf("d0 %v, %d families", d0, len(families))
	}
	if c := families[0].Pairs[0]; c.N != 1 || !math.IsNaN(c.Adjusted) {
		t.Errorf("one block: %+v", c)
	}
	if c := families[1].Pairs[0]; c.P >= Level || c.Half != 0 || c.Claim() {
		t.Errorf("three blocks of two columns have 8 orders, so nothing can be claimed: %+v", c)
	}
	if c := families[2].Pairs[0]; c.P != 1 || c.Alone() {
		t.Errorf("equal columns: %+v", c)
	}
	if c := families[3].Pairs[0]; c.N != 0 || c.Claim() {
		t.Errorf("nothing in common: %+v", c)
	}
}

// TestLargeEffectIsClaimed: the procedure is not merely silent. The columns differ by factors of 1.6, because a single column
// that stands out of equal ones has 49 equally likely places in three blocks and cannot pass 20 profiles.
func TestLargeEffectIsClaimed(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	tables, _ := draw(r, published(t), 3)
	for _, tb := range tables {
		for b := range tb[0] {
			for c := range tb {
				tb[c][b] += float64(c) / 2
			}
		}
	}
	families, _ := Compare(tables, 1)
	claimed := 0
	for _, f := range families {
		if slices.ContainsFunc(f.Pairs, func(c Comparison) bool { return c.I == 0 && c.J == 6 && c.Claim() && c.Mean < 0 }) {
			claimed++
		}
	}
	if claimed < 15 {
		t.Errorf("a column 20 times as fast as another is claimed in %d of %d profiles", claimed, len(families))
	}
}

func TestGlobalPExact(t *testing.T) {
	for name, c := range map[string]struct {
		t    Table
		want float64
	}{
		"all agree":   {Table{{1, 1, 1}, {2, 2, 2}, {4, 4, 4}}, 1.0 / 36},
		"two columns": {Table{{1, 2, 3}, {2, 3, 4}}, 2.0 / 8},
		"ties":        {Table{{1, 1}, {1, 1}}, 1},
		"one block":   {Table{{1}, {9}, {3}}, 1},
		"empty":       {Table{}, 1},
		"missing":     {Table{{1, math.NaN(), 1}, {2, 2, 2}, {4, 4, 4}}, 4.0 / 72}, // by hand: the lone low column may change places with the middle one, and the other two with each other
	} {
		if got := GlobalP(c.t, 1); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: p %v, want %v", name, got, c.want)
		}
	}
}

// TestGlobalPDrawsAgreeWithCounting compares random permutations with all of them.
func TestGlobalPDrawsAgreeWithCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 10 {
		tb := table(r, 4, 3, 0) // 13,824 orders
		exact, drawn := globalP(tb, 1, 20_000, 20_000), globalP(tb, r.Uint64(), 13_000, 13_000)
		if math.Abs(exact-drawn) > 4*math.Sqrt(exact*(1-exact)/13_000)+1e-3 {
			t.Errorf("counted %v, drawn %v", exact, drawn)
		}
	}
	big := table(r, 7, 3, 0)
	if a, b := GlobalP(big, 5), GlobalP(big, 5); a != b {
		t.Errorf("the same seed gives %v and %v", a, b)
	}
}

func TestHolm(t *testing.T) {
	nan := math.NaN()
	got := Holm([]float64{0.01, 0.04, nan, 0.03, 0.9})
	for i, want := range []float64{0.04, 0.09, nan, 0.09, 0.9} {
		if math.Abs(got[i]-want) > 1e-12 || math.IsNaN(want) != math.IsNaN(got[i]) {
			t.Errorf("Holm %v, want 0.04 0.09 NaN 0.09 0.9", got)
			break
		}
	}
	// Four columns: Shaffer's factors are 6 3 3 3 2 1 (his table 2).
	ones := []float64{0.001, 0.001, 0.001, 0.001, 0.001, 0.001}
	for i := range ones {
		ones[i] *= math.Pow(2, float64(i))
	}
	for i, factor := range []float64{6, 3, 3, 3, 2, 1} {
		want := 0.0
		for j, f := range []float64{6, 3, 3, 3, 2, 1}[:i+1] {
			want = max(want, f*ones[j])
		}
		if got := HolmShaffer(ones, 4)[i]; math.Abs(got-want) > 1e-12 {
			t.Errorf("rank %d: %v, want %v (factor %v)", i+1, got, want, factor)
		}
	}
}
