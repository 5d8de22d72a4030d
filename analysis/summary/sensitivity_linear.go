package summary

import (
	"fmt"
	"math"
	"slices"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
)

// linear computes the percentile of every run again from its raw samples by the other rule and compares anew. Without the
// samples nothing is tried, and it says so.
func (o *Sensitivity) linear(art *artifacts.Artifact, s *Summary, m Metric, p float64, base []RatioProfile) {
	kind := m.Name[:len(m.Name)-len("_p00")]
	absent := 0
	in := newRatioInput(art, s, m, func(r *artifacts.Record) (float64, bool) {
		if _, ok := m.value(r); !ok {
			return 0, false
		}
		ns, err := rawSeries(art, r, kind)
		if err != nil {
			absent++
			return 0, false
		}
		slices.Sort(ns)
		return stats.QuantileLinear(ns, p), true
	})
	if absent > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%s, %s: not tried: %d runs lack their raw samples", m.Name, ChoiceLinear, absent))
		return
	}
	for i, other := range in.compare() {
		for j, r := range other.Ratios {
			o.Tried[ChoiceLinear]++
			if b := base[i].Ratios[j]; b.Verdict != r.Verdict && !math.IsNaN(b.Effect) && !math.IsNaN(r.Effect) {
				o.Flips = append(o.Flips, flip(base[i], b, ChoiceLinear, r.Effect, r.Verdict))
			}
		}
	}
}

func rawSeries(art *artifacts.Artifact, r *artifacts.Record, kind string) ([]int64, error) {
	for _, s := range r.Series {
		if s.Kind == kind && s.File != "" {
			raw, err := artifacts.ReadSamples(art.Dir, s.File)
			return raw.NS, err
		}
	}
	return nil, fmt.Errorf("run %s: no samples file of its %s RTTs", r.RunID, kind)
}
