package summary

import (
	"fmt"
	"math"
	"slices"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// Verdicts of a comparison between two artifacts.
const (
	VerdictOK         = "ok"         // worse by more than the tolerance is excluded
	VerdictRegression = "regression" // worse by more than the tolerance is shown, after correction for all comparisons
	VerdictUndecided  = "undecided"  // neither
)

// Delta is one metric of one cell in two artifacts of one machine. The ratio is second over first; NaN where there is none.
type Delta struct {
	Cell           matrix.Cell
	Metric         Metric
	Before, After  Span
	Ratio          float64 // exp of the difference of the mean logarithms
	Lo, Hi         float64 // 95 % interval of this comparison alone
	Adjusted       float64 // one-sided p against "not worse by more than the tolerance", Holm over all comparisons shown
	Verdict        string
	Reason         string  // why a verdict is not ok
	SameDriver     bool    // the program is the same file: what differs is the machine
	Tolerance      float64 // share; of RSS at least one step of the counter
	step           float64 // of the counter, in bytes; 0: not a memory metric
	p              float64
	worse, shrinks float64 // ln of the interval's ends in the bad direction
}

// TableMetrics are what the tables show of a suite, its leading one first.
func TableMetrics(suite string) []string {
	rss := []string{ClientRSS, ServerRSS}
	switch suite {
	case wire.SuiteSparse:
		return append([]string{SparseP50, SparseP95, SparseP99}, rss...)
	case wire.SuiteLoaded:
		return append([]string{LoadedP50, LoadedP99}, rss...)
	}
	return append([]string{Throughput}, rss...)
}

// Compare holds every cell that both artifacts have against a tolerance such as 0.05, in the direction that is bad for its metric. The
// runs of two artifacts share no block, so the interval is Welch's on logarithms. An error names what makes the artifacts
// incomparable as a whole.
func Compare(a, b *artifacts.Artifact, before, after *Summary, tolerance float64) ([]Delta, error) {
	if err := SameClass(ClassOf(a.Manifest), ClassOf(b.Manifest)); err != nil {
		return nil, err
	}
	var out []Delta
	for _, c := range before.Cells {
		if len(before.Rows[c]) == 0 || len(after.Rows[c]) == 0 {
			continue
		}
		reason := CellDifference(CellFacts(a, c), CellFacts(b, c))
		for _, name := range TableMetrics(before.Profiles[c.Profile].Suite) {
			x, y := before.Rows[c][name], after.Rows[c][name]
			if x.N == 0 || y.N == 0 {
				continue
			}
			d := Delta{Cell: c, Metric: x.Metric, Before: rowSpan(x), After: rowSpan(y), SameDriver: sameDriver(a, b, c.Variant), Reason: reason, Tolerance: tolerance}
			if step := float64(a.Manifest.RSS[suiteOf(c)].StepKiB << 10); isRSS(name) && x.Median > 0 {
				d.step, d.Tolerance = step, max(d.Tolerance, step/x.Median) // a step of the counter is no regression
			}
			d.measure(x.Values, y.Values)
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no cell is measured in both artifacts")
	}
	decide(out)
	return out, nil
}

func rowSpan(r Row) Span { return Span{N: r.N, Median: r.Median, Min: r.Min, Max: r.Max} }

// measure computes ratio, interval and p. The signs are turned so that worse is up.
func (d *Delta) measure(x, y []float64) {
	nan := math.NaN()
	d.Ratio, d.Lo, d.Hi, d.p, d.Adjusted = nan, nan, nan, nan, nan
	if slices.Min(x) <= 0 || slices.Min(y) <= 0 {
		d.Reason = orElse(d.Reason, "a value is not above zero")
		return
	}
	e, ok := stats.Welch(logs(y), logs(x))
	d.Ratio = math.Exp(e.Mean)
	if d.Reason != "" {
		return
	}
	if !ok {
		d.Reason = fmt.Sprintf("not decidable with %d and %d runs", len(x), len(y))
		return
	}
	half := e.Half(0.95)
	d.Lo, d.Hi = math.Exp(e.Mean-half), math.Exp(e.Mean+half)
	e.Mean *= -float64(d.Metric.Better)
	d.p, d.worse, d.shrinks = e.BeyondP(d.Tolerance), e.Mean+half, e.Mean-half
}

// decide gives every comparison its verdict; Holm's correction runs over exactly these comparisons.
func decide(ds []Delta) {
	ps := make([]float64, len(ds))
	for i := range ds {
		ps[i] = ds[i].p
	}
	for i, adjusted := range stats.Holm(ps) {
		d := &ds[i]
		d.Adjusted = adjusted
		limit := math.Log1p(d.Tolerance)
		switch {
		case math.Abs(d.After.Median-d.Before.Median) < d.step && d.Reason == "":
			d.Verdict, d.Reason = VerdictOK, "= (under one step of the counter)"
		case math.IsNaN(d.p):
			d.Verdict = VerdictUndecided
		case d.worse <= limit:
			d.Verdict = VerdictOK
		case d.shrinks > limit && adjusted < stats.Level:
			d.Verdict, d.Reason = VerdictRegression, "worse by more than the tolerance"
		case d.shrinks > limit:
			d.Verdict, d.Reason = VerdictUndecided, "worse alone, but not after correction for all comparisons"
		default:
			d.Verdict, d.Reason = VerdictUndecided, fmt.Sprintf("not decidable with %d and %d runs", d.Before.N, d.After.N)
		}
	}
}

func isRSS(metric string) bool { return metric == ClientRSS || metric == ServerRSS }

func logs(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Log(x)
	}
	return out
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
