package summary

import (
	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

func (s *Summary) cell(c matrix.Cell, flags map[string]int, samples map[string]int) cellDoc {
	st := s.Status[c]
	d := cellDoc{
		Profile: c.Profile, Variant: c.Variant, OK: st.OK, Failed: st.Failed, Unsupported: st.Unsupported, NotRun: st.NotRun,
		Reason: st.Reason, Flags: flags, Metrics: []metricDoc{},
	}
	for _, m := range Metrics() {
		if row, ok := s.Rows[c][m.Name]; ok {
			d.Metrics = append(d.Metrics, newMetricDoc(row, samples))
		}
	}
	return d
}

func newMetricDoc(row Row, samples map[string]int) metricDoc {
	d := metricDoc{
		Name: row.Metric.Name, Unit: row.Metric.Unit, Better: row.Metric.Better, N: row.N,
		Median: Number(row.Median), Min: Number(row.Min), Max: Number(row.Max), Runs: row.Runs,
	}
	for _, v := range row.Values {
		d.Values = append(d.Values, Number(v))
	}
	p, ok := percentileOf(row.Metric.Name)
	if !ok {
		return d
	}
	for i, id := range row.Runs {
		if n := samples[id]; i == 0 || n < d.Samples {
			d.Samples = n
		}
	}
	_, has := stats.UpperRank(d.Samples, p, 0.95)
	d.Upper = &has
	return d
}

// percentileOf is the p of an RTT metric.
func percentileOf(metric string) (float64, bool) {
	p, ok := map[string]float64{SparseP50: 0.50, SparseP95: 0.95, SparseP99: 0.99, LoadedP50: 0.50, LoadedP99: 0.99}[metric]
	return p, ok
}

// labels counts, by cell, how many of its runs carry each flag. Only the last attempt of a run counts.
func labels(art *artifacts.Artifact) map[matrix.Cell]map[string]int {
	out := map[matrix.Cell]map[string]int{}
	for _, r := range art.Last() {
		c := matrix.Cell{Profile: r.Profile.ID, Variant: r.Variant.Name}
		for _, f := range r.Flags {
			if out[c] == nil {
				out[c] = map[string]int{}
			}
			out[c][f]++
		}
	}
	return out
}

// seriesSizes is the number of RTTs behind each run's percentiles.
func seriesSizes(art *artifacts.Artifact) map[string]int {
	out := map[string]int{}
	for _, r := range art.Last() {
		for _, s := range r.Series {
			out[r.RunID] = s.N
		}
	}
	return out
}
