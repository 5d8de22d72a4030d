package runner

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/transports/wire"
)

// Kinds of Record.Series.
const (
	kindSparse = "sparse"
	kindLoaded = "loaded"
)

// readSamples returns a driver's samples file, nil when it wrote none. The size is bounded: the file comes from a driver.
func readSamples(path string) ([]byte, error) {
	const limit = 64 + 8*artifacts.MaxSamples
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if len(b) > limit {
		return nil, fmt.Errorf("file is over %d bytes", limit)
	}
	return b, nil
}

// summarise turns raw RTTs into what the journal keeps of them.
func summarise(raw []byte) (artifacts.Series, error) {
	s, err := artifacts.DecodeSamples(raw)
	if err != nil {
		return artifacts.Series{Kind: "unreadable"}, err
	}
	out := artifacts.Series{Kind: kindSparse, N: len(s.NS)}
	if s.Kind == wire.SamplesLoaded {
		out.Kind = kindLoaded
	}
	if out.N == 0 {
		return out, nil
	}
	out.Lag1 = stats.Lag1(s.NS) // in order of completion, before sorting
	out.MeanNS = stats.Mean(s.NS)
	slices.Sort(s.NS)
	out.MinNS, out.MaxNS = s.NS[0], s.NS[out.N-1]
	out.Quantiles = stats.Quantiles(s.NS, stats.FixedP())
	out.Dip = stats.Dip(s.NS)
	return out, nil
}

// checkSeries holds the samples file against the plan and against the quantiles that the driver printed.
func (m *measurement) checkSeries() string {
	p := m.run.Profile
	kind, each, said := kindSparse, p.Samples, m.rec.Client.Result.Sparse
	if p.Suite == wire.SuiteLoaded {
		kind, each, said = kindLoaded, p.Messages, m.rec.Client.Result.Loaded
	}
	want := each * p.Connections
	if want == 0 {
		return ""
	}
	if len(m.rec.Series) != 1 {
		return fmt.Sprintf("samples: the client wrote no file, want %d RTTs", want)
	}
	got := m.rec.Series[0]
	switch {
	case got.Kind != kind:
		return fmt.Sprintf("samples: %s RTTs, want %s", got.Kind, kind)
	case got.N != want && (!m.lossy() || got.N == 0 || got.N > want):
		return fmt.Sprintf("samples: %d RTTs, want %d", got.N, want)
	case said == nil:
		return "result: no " + kind + " quantiles"
	case said.N != got.N:
		return fmt.Sprintf("result: quantiles of %d RTTs, the file has %d", said.N, got.N)
	}
	return compareQuantiles(said, got)
}

func compareQuantiles(said *wire.Quantiles, got artifacts.Series) string {
	for _, q := range []struct {
		p    float64
		said int64
	}{{0.50, said.P50NS}, {0.95, said.P95NS}, {0.99, said.P99NS}} {
		ours, err := stats.At(got.Quantiles, q.p)
		if err != nil {
			return "quantiles: " + err.Error()
		}
		if ours != q.said {
			return fmt.Sprintf("result: p%.0f is %d ns, the samples file has %d ns", 100*q.p, q.said, ours)
		}
	}
	return ""
}
