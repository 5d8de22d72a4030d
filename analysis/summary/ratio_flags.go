package summary

import (
	"fmt"
	"slices"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
)

// runFlags counts the flags of a column's runs: "short-run 3/3".
func runFlags(runs []*artifacts.Record) []string {
	count, all := map[string]int{}, 0
	var names []string
	for _, r := range runs {
		if r == nil {
			continue
		}
		all++
		for _, f := range r.Flags {
			if count[f]++; count[f] == 1 {
				names = append(names, f)
			}
		}
	}
	slices.Sort(names)
	for i, f := range names {
		names[i] = fmt.Sprintf("%s %d/%d", f, count[f], all)
	}
	return names
}

// bimodal: an RTT metric when more than half of its runs' series have two modes; anything else from 20 runs on, pooled.
func (in *ratioInput) bimodal(c *ratioColumn) bool {
	kind, _, isRTT := strings.Cut(in.metric.Name, "_p")
	if isRTT && (kind == "sparse" || kind == "loaded") {
		flagged, all := 0, 0
		for _, s := range seriesOf(c.runs, kind) {
			if all++; stats.BimodalSeries(s.Dip, s.N, s.Lag1) {
				flagged++
			}
		}
		return 2*flagged > all
	}
	var values []float64
	for i, r := range c.runs {
		if r != nil {
			values = append(values, c.values[i])
		}
	}
	two, _ := stats.BimodalRuns(values)
	return two
}

func seriesOf(runs []*artifacts.Record, kind string) []artifacts.Series {
	var out []artifacts.Series
	for _, r := range runs {
		if r == nil {
			continue
		}
		for _, s := range r.Series {
			if s.Kind == kind {
				out = append(out, s)
			}
		}
	}
	return out
}

// shortSeries says that a percentile metric rests on series too short for any one-sided 95 % upper bound, and their least length.
func (in *ratioInput) shortSeries(c *ratioColumn) (n int, short bool) {
	for suffix, p := range map[string]float64{"_p95": 0.95, "_p99": 0.99} {
		kind, ok := strings.CutSuffix(in.metric.Name, suffix)
		if !ok {
			continue
		}
		for _, s := range seriesOf(c.runs, kind) {
			if _, bound := stats.UpperRank(s.N, p, 0.95); !bound && (!short || s.N < n) {
				n, short = s.N, true
			}
		}
	}
	return n, short
}
