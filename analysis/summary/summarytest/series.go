package summarytest

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// samples invents the RTTs that the suite keeps: the burst when loaded, else the rounds before it.
func samples(p matrix.Profile, rng *rand.Rand, burst int64) ([]int64, wire.SampleKind) {
	kind, each, mean := wire.SamplesSparse, p.Samples, 100_000.0
	if p.Suite == wire.SuiteLoaded {
		// The least of the connections' bursts, so that no connection has more than its window in flight.
		kind, each, mean = wire.SamplesLoaded, p.Messages, fill*fill*float64(burst)*float64(p.Window)/float64(p.Messages)
	}
	ns := make([]int64, each*p.Connections)
	for i := range ns {
		ns[i] = int64(mean * (0.995 + 0.01*rng.Float64()))
	}
	return ns, kind
}

// summarise puts a series and the driver's own quantiles into a record and returns the samples file.
func summarise(r *artifacts.Record, ns []int64, kind wire.SampleKind) []byte {
	var file bytes.Buffer
	_ = wire.EncodeSamples(&file, kind, r.Profile.Connections, ns) // a buffer takes everything
	s := artifacts.Series{Kind: "sparse", N: len(ns), MeanNS: stats.Mean(ns), Lag1: stats.Lag1(ns)}
	slices.Sort(ns)
	s.MinNS, s.MaxNS, s.Quantiles, s.Dip = ns[0], ns[len(ns)-1], stats.Quantiles(ns, stats.FixedP()), stats.Dip(ns)
	q := &wire.Quantiles{N: len(ns), P50NS: stats.Quantile(ns, 0.50), P95NS: stats.Quantile(ns, 0.95), P99NS: stats.Quantile(ns, 0.99)}
	if kind == wire.SamplesLoaded {
		s.Kind, r.Client.Result.Loaded = "loaded", q
	} else {
		r.Client.Result.Sparse = q
	}
	r.Series = []artifacts.Series{s}
	return file.Bytes()
}

// counters invents what the namespace counted: a header of 40 B a packet, and exactly the planned share of drops.
func counters(p matrix.Profile, echoes int64) *link.Counters {
	each := int64(max(1, (p.PayloadBytes+1399)/1400))
	packets := 2 * echoes * each
	c := &link.Counters{PacketsLo: packets, BytesLo: 2*echoes*int64(p.PayloadBytes) + 40*packets, UDP: map[string]int64{"RcvbufErrors": 0}}
	for _, name := range []string{"to-server", "to-client"} {
		c.Directions = append(c.Directions, link.Direction{Name: name, Seen: packets / 2, Dropped: packets / 2 * int64(p.Link.LossPPM) / 1_000_000})
	}
	return c
}

func total(ns []int64) int64 {
	var sum int64
	for _, v := range ns {
		sum += v
	}
	return sum
}
