package echotest

import (
	"context"
	"fmt"
	"os"
	"slices"

	"transportbench/transports/wire"
)

// samplesOf reads the samples file of a run and recomputes the quantiles of its result from it.
func (s *session) samplesOf(p pair) error {
	f, err := os.Open(p.cfg.SamplesFile)
	if err != nil {
		return want("a samples file", "%v", err)
	}
	defer f.Close()
	r, err := wire.NewSamplesReader(f)
	if err != nil {
		return want("a samples file in format TBRTT1", "%v", err)
	}
	kind, each := wire.SamplesSparse, p.cfg.Samples
	if p.cfg.Suite == wire.SuiteLoaded {
		kind, each = wire.SamplesLoaded, p.cfg.Messages
	}
	n := int64(each) * int64(p.cfg.Connections)
	res, _ := find[wire.Result](p.client.records)
	if r.Kind != kind || r.Connections != p.cfg.Connections || r.Count > n || r.Count+res.Lost < n {
		return want(fmt.Sprintf("kind %d, %d connections, %d samples", kind, p.cfg.Connections, n), "%d, %d, %d", r.Kind, r.Connections, r.Count)
	}
	ns := make([]int64, n+1)
	got, err := r.Read(ns)
	if int64(got) != r.Count {
		return want(fmt.Sprintf("%d samples in the file", r.Count), "%d: %v", got, err)
	}
	q := res.Sparse
	if kind == wire.SamplesLoaded {
		q = res.Loaded
	}
	return sameQuantiles(ns[:got], q)
}

// sameQuantiles applies the nearest-rank rule, index ceil(n*p)-1, to what the file holds.
func sameQuantiles(ns []int64, q *wire.Quantiles) error {
	if q == nil || len(ns) == 0 {
		return want("quantiles of the samples in the result", "%v for %d samples", q, len(ns))
	}
	slices.Sort(ns)
	rank := func(percent int) int64 { return ns[(len(ns)*percent+99)/100-1] }
	mine := wire.Quantiles{N: len(ns), P50NS: rank(50), P95NS: rank(95), P99NS: rank(99)}
	if ns[0] <= 0 {
		return want("RTTs above 0", "%d ns", ns[0])
	}
	if mine != *q {
		return want(fmt.Sprintf("quantiles of the file %+v", mine), "%+v", *q)
	}
	return nil
}

// checkSamplesKept proves that a samples file is never overwritten.
func (s *session) checkSamplesKept(ctx context.Context) {
	s.check("samples-kept", func() error {
		cfg := s.config(wire.SuiteSingle, wire.APISend)
		cfg.SamplesFile = s.samplesPath()
		const before = "measured earlier"
		if err := os.WriteFile(cfg.SamplesFile, []byte(before), 0o644); err != nil {
			return fmt.Errorf("samples file: %w", err)
		}
		p, err := s.run(ctx, cfg, nil)
		if err != nil {
			return err
		}
		after, err := os.ReadFile(cfg.SamplesFile)
		if err != nil || string(after) != before {
			return want("an existing samples file untouched", "%d bytes, %v", len(after), err)
		}
		if p.client.exit == wire.ExitOK || p.client.signal != "" {
			return want("client failure: its samples file exists", "%s", p.client.how())
		}
		return nil
	})
}
