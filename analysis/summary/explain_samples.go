package summary

import (
	"fmt"
	"math"
	"slices"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
)

// weighed says of each RTT series of a run how many independent values it is worth and what its p99 may be at most, from the
// raw samples. A run without raw samples gives no line.
func weighed(art *artifacts.Artifact, r *artifacts.Record) []string {
	var lines []string
	for _, s := range r.Series {
		ns, err := rawSeries(art, r, s.Kind)
		if err != nil || len(ns) == 0 {
			continue
		}
		p50, p99 := stats.EffectiveNQuantile(ns, 0.5), stats.EffectiveNQuantile(ns, 0.99)
		bound := "no upper bound"
		if rank, ok := stats.UpperRank(int(p99), 0.99, 0.95); ok {
			slices.Sort(ns)
			// The rank is among the independent values; the same share of all values stands at the same height.
			bound = fmt.Sprintf("at most %s ns (95 %%, one-sided)", Format(float64(stats.Quantile(ns, float64(rank)/math.Floor(p99)))))
		}
		lines = append(lines, fmt.Sprintf("%s: %d RTTs, worth %.0f independent ones for p50 and %.0f for p99; p99 %s", s.Kind, s.N, p50, p99, bound))
	}
	return lines
}

// share says how much of the variance of ln RTT lies between runs; empty without the raw samples of two counted runs.
func share(art *artifacts.Artifact, runs []ExplainedRun) string {
	var logs [][]float64
	for _, r := range runs {
		if !r.Counted || len(r.Record.Series) == 0 {
			continue
		}
		ns, err := rawSeries(art, r.Record, r.Record.Series[0].Kind)
		if err != nil {
			continue
		}
		xs := make([]float64, len(ns))
		for i, x := range ns {
			xs[i] = math.Log(float64(max(x, 1)))
		}
		logs = append(logs, xs)
	}
	within, between := stats.Components(logs)
	if math.IsNaN(within) || within+between == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the variance of ln RTT lies between runs, where more samples per run do not help", 100*between/(within+between))
}
