package stats

import "math"

// RunsTest is the outcome of the Wald-Wolfowitz test of a sequence of two kinds.
type RunsTest struct {
	True     int64   `json:"true"`     // values that were true
	False    int64   `json:"false"`    // values that were false
	Runs     int64   `json:"runs"`     // longest stretches of equal values, one after the other
	Expected float64 `json:"expected"` // runs of a random order of these values
	Z        float64 `json:"z"`        // distance from Expected in standard deviations; negative: values stick together
	Chance   float64 `json:"chance"`   // two-sided, by the normal approximation; 1 where there is nothing to order
}

// Runs tests whether the order of the values is random given how many of each kind there are. The number of runs then has
// the mean 2ab/n + 1 and the variance (mean-1)(mean-2)/(n-1) and is nearly normal when neither kind is rarer than about ten.
// Source: A. Wald, J. Wolfowitz, "On a test whether two samples are from the same population", Annals of Mathematical
// Statistics 11 (1940), 147-162.
func Runs(values []bool) RunsTest {
	t := RunsTest{Chance: 1}
	for i, v := range values {
		if v {
			t.True++
		} else {
			t.False++
		}
		if i == 0 || v != values[i-1] {
			t.Runs++
		}
	}
	n := float64(t.True + t.False)
	t.Expected = float64(t.Runs)
	if t.True == 0 || t.False == 0 {
		return t
	}
	t.Expected = 2*float64(t.True)*float64(t.False)/n + 1
	if variance := (t.Expected - 1) * (t.Expected - 2) / (n - 1); variance > 0 {
		t.Z = (float64(t.Runs) - t.Expected) / math.Sqrt(variance)
		t.Chance = math.Erfc(math.Abs(t.Z) / math.Sqrt2)
	}
	return t
}
