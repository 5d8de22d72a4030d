package summary

import (
	"slices"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
)

// finish picks one of the times at which connections ended their burst, ascending, in ns from the barrier. A connection whose whole
// burst was lost has none.
func finish(pick func(sorted []int64) float64) func(*artifacts.Record) (float64, bool) {
	return func(r *artifacts.Record) (float64, bool) {
		if r.Client.Result == nil || len(r.Client.Result.PerConn) < 2 {
			return 0, false
		}
		var ends []int64
		for _, c := range r.Client.Result.PerConn {
			if c.BurstNS > 0 {
				ends = append(ends, c.BurstNS)
			}
		}
		if len(ends) == 0 {
			return 0, false
		}
		slices.Sort(ends)
		return pick(ends), true
	}
}

func firstEnd(ends []int64) float64  { return float64(ends[0]) }
func medianEnd(ends []int64) float64 { return stats.Median(ends) }
func lastEnd(ends []int64) float64   { return float64(ends[len(ends)-1]) }

// middle80 is the payload echoed between 10 % and 90 % of the burst over that time, in B/s, with each connection's share spread
// evenly over its own burst: early and late connections weigh less than in the whole burst.
func middle80(r *artifacts.Record) (float64, bool) {
	res := r.Client.Result
	if res == nil || len(res.PerConn) < 2 || res.ElapsedNS <= 0 || r.Profile.PayloadBytes <= 0 {
		return 0, false
	}
	from, to := 0.1*float64(res.ElapsedNS), 0.9*float64(res.ElapsedNS)
	each := float64(res.Bytes) / float64(len(res.PerConn))
	sum := 0.0
	for _, c := range res.PerConn {
		if c.BurstNS > 0 {
			sum += each * max(0, min(to, float64(c.BurstNS))-from) / float64(c.BurstNS)
		}
	}
	return sum / ((to - from) / 1e9), true
}
