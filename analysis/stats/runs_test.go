package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// sequence has so many of each kind in so many runs: single values first, the rest in the last two runs.
func sequence(trues, falses, runs int) []bool {
	left := map[bool]int{true: trues, false: falses}
	var out []bool
	kind := true
	for i := range runs {
		n := 1
		if i >= runs-2 {
			n = left[kind]
		}
		for range n {
			out = append(out, kind)
		}
		left[kind] -= n
		kind = !kind
	}
	return out
}

func TestRunsKnownValues(t *testing.T) {
	cases := []struct {
		name                string
		trues, falses, runs int
		z, chance           float64
	}{
		// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.13: 200 values around their median give Z = 2.6938.
		{"NIST beam deflections", 100, 100, 120, 2.6938, 0.00706},
		{"exactly as expected", 50, 50, 51, 0, 1},
		// mean 13, variance 12 * 11 / 23 = 5.739130
		{"sticks together", 12, 12, 7, -2.504539, 0.012261},
	}
	for _, c := range cases {
		got := Runs(sequence(c.trues, c.falses, c.runs))
		if got.True != int64(c.trues) || got.False != int64(c.falses) || got.Runs != int64(c.runs) {
			t.Fatalf("%s: counted %+v", c.name, got)
		}
		if math.Abs(got.Z-c.z) > 5e-5 || math.Abs(got.Chance-c.chance) > 1e-5 {
			t.Errorf("%s: z %.6f chance %.6f, want %.6f and %.6f", c.name, got.Z, got.Chance, c.z, c.chance)
		}
	}
}

// TestRunsMoments compares mean and variance with those of every order of four values among twelve.
func TestRunsMoments(t *testing.T) {
	const n, trues = 12, 4
	var orders, sum, squares, expected float64
	for mask := range 1 << n {
		if bits.OnesCount(uint(mask)) != trues {
			continue
		}
		values := make([]bool, n)
		for i := range values {
			values[i] = mask>>i&1 == 1
		}
		got := Runs(values)
		orders, sum, squares, expected = orders+1, sum+float64(got.Runs), squares+got.Z*got.Z, got.Expected
	}
	if mean := sum / orders; math.Abs(mean-expected) > 1e-9 {
		t.Errorf("mean of all orders %.9f, expected %.9f", mean, expected)
	}
	if v := squares / orders; math.Abs(v-1) > 1e-9 {
		t.Errorf("variance of z over all orders %.9f, want 1", v)
	}
}

func TestRunsDegenerate(t *testing.T) {
	for _, values := range [][]bool{nil, {true}, {false, false, false}, {true, false}} {
		if got := Runs(values); got.Z != 0 || got.Chance != 1 {
			t.Errorf("%v: %+v, want nothing to tell", values, got)
		}
	}
}

// TestRunsTells draws independent losses, which must pass at the nominal rate, and losses in pairs, which must not.
func TestRunsTells(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	falseAlarms, missed := 0, 0
	for range 500 {
		independent, paired := make([]bool, 20_000), make([]bool, 20_000)
		for i := range independent {
			independent[i] = rng.Float64() < 0.01
			paired[i] = rng.Float64() < 0.005 || i > 0 && paired[i-1] && rng.Float64() < 0.5
		}
		if Runs(independent).Chance < 0.01 {
			falseAlarms++
		}
		if Runs(paired).Chance >= 0.01 {
			missed++
		}
	}
	if falseAlarms < 1 || falseAlarms > 15 || missed > 0 {
		t.Errorf("%d of 500 independent sequences refused at 1 %%, %d of 500 paired ones passed; want about 5 and 0", falseAlarms, missed)
	}
}
