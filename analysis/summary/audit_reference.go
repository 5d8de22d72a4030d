package summary

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"transportbench/artifacts/reference"
	"transportbench/transports/wire"
)

// Windows of the published benchmark, per connection: the tables do not print them.
const (
	windowSingle     = 64
	windowConcurrent = 16
)

// AuditReference applies the rules that tables alone allow, in the units that were printed.
func AuditReference(into *Audit, ref *reference.Reference) {
	total := 0
	for _, c := range ref.Cells {
		path := reference.CellsFile + ":" + c.Cell
		total += c.N
		for _, name := range keys(c.Metrics) {
			q := c.Metrics[name]
			into.Check(q.Min <= q.Median && q.Median <= q.Max, "range-order", path+" "+name, "min <= median <= max", fmt.Sprintf("%v, %v, %v", q.Min, q.Median, q.Max))
		}
		refQuantiles(into, c, path)
		refBounds(into, c, path)
		refImplied(into, ref, c, path)
	}
	into.Check(total == ref.Manifest.Measurements["total"], "measurements", reference.CellsFile, fmt.Sprint(ref.Manifest.Measurements["total"]), fmt.Sprint(total))
	for _, a := range ref.Claims.Amendments {
		into.Note(false, "amended", reference.CellsFile+":"+a.Cell+" "+a.Metric, fmt.Sprintf("the first median %v in the printed range", a.OriginalMedian),
			fmt.Sprintf("%v from %d later runs (%v) beside the range of the first", a.Median, a.RetestRuns, a.RetestRange))
	}
	for rule, why := range map[string]string{
		"little-law": "no RTT sums of connections were published", "bytes": "no byte counts were published", "server-messages": "no counts were published",
		"loss-band": "no packet counts were published", "outside-clock": "no second clock was published", "udp-bound": "there is no raw UDP column",
		"column-void": "failed runs were not published",
	} {
		into.Skip(rule, why)
	}
}

// refQuantiles: order holds for medians and for both ends, because it holds in every run.
func refQuantiles(into *Audit, c reference.Cell, path string) {
	names := slices.DeleteFunc([]string{c.Suite + "_p50", c.Suite + "_p95", c.Suite + "_p99"}, func(n string) bool { return c.Metrics[n].Unit == "" })
	for i := 1; i < len(names); i++ {
		a, b := c.Metrics[names[i-1]], c.Metrics[names[i]]
		into.Check(a.Median <= b.Median && a.Min <= b.Min && a.Max <= b.Max, "quantile-order", path, names[i-1]+" <= "+names[i],
			fmt.Sprintf("%v (%v-%v), %v (%v-%v)", a.Median, a.Min, a.Max, b.Median, b.Min, b.Max))
	}
}

func refBounds(into *Audit, c reference.Cell, path string) {
	if _, _, most, err := c.Metrics[Throughput].Base(); err == nil && c.DelayNS > 0 {
		limit := windowCeiling(c.Connections, window(c.Suite), c.PayloadBytes, c.DelayNS)
		into.Check(most <= limit*littleMost, "window-ceiling", path, "at most "+Format(limit)+" B/s", Format(most))
	}
	samples := map[string]int{wire.SuiteSparse: c.Messages, wire.SuiteLoaded: c.Messages}[c.Suite]
	if _, least, _, err := c.Metrics[ClientRSS].Base(); err == nil && samples > 0 {
		into.Check(least >= 8*float64(samples), "rss-samples", path, fmt.Sprintf("client peak RSS of at least %d B for %d RTTs", 8*samples, samples), Format(least))
	}
}

// refImplied: C x w / rate is the mean RTT of a burst, and no mean exceeds the greatest value. Only p99 was printed, and of other
// runs with fewer messages, so a mean above it is a note: the tail is that long, or the two tables do not fit.
func refImplied(into *Audit, ref *reference.Reference, c reference.Cell, path string) {
	if c.Suite != wire.SuiteConcurrent {
		return
	}
	loaded, ok := ref.Find(strings.Replace(c.Cell, wire.SuiteConcurrent, wire.SuiteLoaded, 1))
	if !ok {
		return
	}
	rate, _, _, err := c.Metrics[Throughput].Base()
	_, _, p99, err2 := loaded.Metrics[LoadedP99].Base()
	if err != nil || err2 != nil || rate <= 0 {
		return
	}
	mean := float64(c.Connections) * windowConcurrent * float64(c.PayloadBytes) / rate * 1e9
	into.Note(mean <= p99, "implied-mean", path, "C w / rate at most the greatest p99, "+Format(p99)+" ns, of "+loaded.Cell, Format(mean)+" ns")
}

func window(suite string) int {
	if suite == wire.SuiteSingle || suite == wire.SuiteSparse {
		return windowSingle
	}
	return windowConcurrent
}

// keys returns the keys of a map in order.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
