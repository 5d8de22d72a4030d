// Package summary turns runs into one row per cell and metric. It knows what a metric is and how runs are counted, not how numbers look.
package summary

import (
	"math"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/transports/wire"
)

// Metric is one quantity of a run in base units: bytes, ns, or a plain ratio.
type Metric struct {
	Name   string
	Unit   string
	Better int // +1 when more is better, -1 when less is better, 0 when it is neither
	value  func(r *artifacts.Record) (float64, bool)
}

// Names of the metrics that tables show.
const (
	Throughput = "throughput"
	SparseP50  = "sparse_p50"
	SparseP95  = "sparse_p95"
	SparseP99  = "sparse_p99"
	LoadedP50  = "loaded_p50"
	LoadedP99  = "loaded_p99"
	ClientRSS  = "client_rss"
	ServerRSS  = "server_rss"
	LostShare  = "lost_share"
	Elapsed    = "elapsed"
	RcvbufDrop = "udp_rcvbuf_errors"
)

// Metrics returns every metric in the order of summary.tsv.
func Metrics() []Metric {
	return []Metric{
		{Throughput, "B/s", +1, throughput},
		{Elapsed, "ns", 0, elapsed},
		{SparseP50, "ns", -1, quantile(sparse, func(q *wire.Quantiles) int64 { return q.P50NS })},
		{SparseP95, "ns", -1, quantile(sparse, func(q *wire.Quantiles) int64 { return q.P95NS })},
		{SparseP99, "ns", -1, quantile(sparse, func(q *wire.Quantiles) int64 { return q.P99NS })},
		{LoadedP50, "ns", -1, quantile(loaded, func(q *wire.Quantiles) int64 { return q.P50NS })},
		{LoadedP99, "ns", -1, quantile(loaded, func(q *wire.Quantiles) int64 { return q.P99NS })},
		{ClientRSS, "B", -1, rss(func(r *artifacts.Record) *wire.Exit { return r.Client.Exit })},
		{ServerRSS, "B", -1, rss(func(r *artifacts.Record) *wire.Exit { return r.Server.Exit })},
		{"client_cpu_per_message", "ns", -1, cpuPerMessage(func(r *artifacts.Record) *wire.Exit { return r.Client.Exit })},
		{"server_cpu_per_message", "ns", -1, cpuPerMessage(func(r *artifacts.Record) *wire.Exit { return r.Server.Exit })},
		{"packets_per_message", "1", 0, packetsPerMessage},
		{"wire_bytes_per_payload_byte", "1", 0, wireOverhead},
		{"effective_loss", "1", 0, effectiveLoss},
		{LostShare, "1", -1, lostShare},
		{RcvbufDrop, "1", -1, counter("RcvbufErrors")},
		{"jain_index", "1", +1, jain},
		{"first_finish", "ns", 0, finish(firstEnd)},
		{"median_finish", "ns", 0, finish(medianEnd)},
		{"last_finish", "ns", 0, finish(lastEnd)},
		{"middle80_throughput", "B/s", +1, middle80},
	}
}

func throughput(r *artifacts.Record) (float64, bool) {
	res := r.Client.Result
	if res == nil || res.ElapsedNS <= 0 {
		return 0, false
	}
	return float64(res.Bytes) / (float64(res.ElapsedNS) / 1e9), true
}

func elapsed(r *artifacts.Record) (float64, bool) {
	if r.Client.Result == nil {
		return 0, false
	}
	return float64(r.Client.Result.ElapsedNS), true
}

func sparse(r *artifacts.Record) *wire.Quantiles { return r.Client.Result.Sparse }
func loaded(r *artifacts.Record) *wire.Quantiles { return r.Client.Result.Loaded }

func quantile(of func(*artifacts.Record) *wire.Quantiles, pick func(*wire.Quantiles) int64) func(*artifacts.Record) (float64, bool) {
	return func(r *artifacts.Record) (float64, bool) {
		if r.Client.Result == nil {
			return 0, false
		}
		q := of(r)
		if q == nil || q.N == 0 {
			return 0, false
		}
		return float64(pick(q)), true
	}
}

func rss(of func(*artifacts.Record) *wire.Exit) func(*artifacts.Record) (float64, bool) {
	return func(r *artifacts.Record) (float64, bool) {
		e := of(r)
		if e == nil || e.MaxRSSKiB <= 0 {
			return 0, false
		}
		return float64(e.MaxRSSKiB) * 1024, true
	}
}

// cpuPerMessage divides a process's whole CPU time by all messages it carried; start-up and handshakes are included.
func cpuPerMessage(of func(*artifacts.Record) *wire.Exit) func(*artifacts.Record) (float64, bool) {
	return func(r *artifacts.Record) (float64, bool) {
		e, res := of(r), r.Client.Result
		if e == nil || res == nil || res.Verified == 0 {
			return 0, false
		}
		return float64(e.UserUS+e.SystemUS) * 1000 / float64(res.Verified), true
	}
}

func packetsPerMessage(r *artifacts.Record) (float64, bool) {
	if r.Counters == nil || r.Client.Result == nil || r.Client.Result.Verified == 0 {
		return 0, false
	}
	return float64(r.Counters.PacketsLo) / float64(r.Client.Result.Verified), true
}

// wireOverhead is bytes on the loopback, both directions, over the payload bytes echoed, both directions.
func wireOverhead(r *artifacts.Record) (float64, bool) {
	if r.Counters == nil || r.Client.Result == nil || r.Client.Result.Verified == 0 {
		return 0, false
	}
	return float64(r.Counters.BytesLo) / (2 * float64(r.Client.Result.Verified) * float64(r.Profile.PayloadBytes)), true
}

// effectiveLoss is injected drops plus queue and receive-buffer overflow over the packets sent.
func effectiveLoss(r *artifacts.Record) (float64, bool) {
	if r.Counters == nil || r.Counters.PacketsLo == 0 {
		return 0, false
	}
	lost := float64(r.Counters.UDP["RcvbufErrors"])
	for _, d := range r.Counters.Directions {
		lost += float64(d.Dropped + d.Overflow)
	}
	return lost / float64(r.Counters.PacketsLo), true
}

func lostShare(r *artifacts.Record) (float64, bool) {
	res := r.Client.Result
	if res == nil || res.Messages == 0 {
		return 0, false
	}
	return float64(res.Lost) / float64(res.Messages), true
}

func counter(name string) func(*artifacts.Record) (float64, bool) {
	return func(r *artifacts.Record) (float64, bool) {
		if r.Counters == nil {
			return 0, false
		}
		return float64(r.Counters.UDP[name]), true
	}
}

// jain is Jain's fairness index of the connections' rates, 1/N to 1; a connection whose whole burst was lost has rate 0.
func jain(r *artifacts.Record) (float64, bool) {
	if r.Client.Result == nil || len(r.Client.Result.PerConn) < 2 {
		return 0, false
	}
	rates := make([]float64, len(r.Client.Result.PerConn))
	for i, c := range r.Client.Result.PerConn {
		if c.BurstNS < 0 {
			return 0, false
		}
		if c.BurstNS > 0 {
			rates[i] = 1 / float64(c.BurstNS)
		}
	}
	index := stats.Jain(rates)
	return index, !math.IsNaN(index)
}
