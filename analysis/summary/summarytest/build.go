// Package summarytest makes small artifacts for tests: every number is invented, and all of them fit together as those of an honest run do.
package summarytest

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// Spec says what to invent. The zero value is the quick matrix, small, one repetition.
type Spec struct {
	Matrix    string // built-in; empty: quick
	Selection matrix.Selection
	Host      string                       // fingerprint; empty: one fixed machine
	Backend   string                       // empty: nft
	Noise     float64                      // standard deviation of ln rate between runs; 0: 1 %
	Salt      string                       // another draw of the same noise
	Rate      func(run matrix.Run) float64 // factor on a cell's rate; nil: 1
	Change    func(r *artifacts.Record)    // last word on a record; nil: none

	Replicates *artifacts.Replicates // with Ladder: the artifact is a replication
	Ladder     []byte
}

// Small is a selection that keeps an artifact under 100 kB: three repetitions, few messages.
func Small(only ...string) matrix.Selection {
	return matrix.Selection{Only: only, Repetitions: 3, Scale: 0.01, MaxConnections: 4}
}

// day is when every invented artifact was started.
func day() time.Time { return time.Date(2026, 10, 12, 8, 0, 0, 0, time.UTC) }

// Build writes a sealed artifact into dir, which must not exist.
func Build(dir string, s Spec) error {
	plan, err := s.plan()
	if err != nil {
		return err
	}
	var tsv bytes.Buffer
	if err := plan.WriteTSV(&tsv); err != nil {
		return err
	}
	w, err := artifacts.Create(dir, s.manifest(plan), tsv.Bytes())
	if err != nil {
		return err
	}
	if s.Replicates != nil {
		if err := w.AppendReplication(s.Ladder); err != nil {
			return err
		}
	}
	m := w.Manifest()
	at := day()
	for _, run := range plan.Runs {
		r, raw := s.record(run, at)
		at = at.Add(time.Duration(r.WallNS) + time.Millisecond)
		if err := store(w, r, raw); err != nil {
			return err
		}
		switch r.Outcome {
		case artifacts.OutcomeOK:
			m.OK++
		case artifacts.OutcomeFailed:
			m.Failed++
		default:
			m.Unsupported++
		}
	}
	m.NotRun, m.Finished = 0, &at
	if err := w.Seal(m); err != nil {
		return err
	}
	return w.Close()
}

func store(w *artifacts.Writer, r *artifacts.Record, raw []byte) error {
	if raw != nil {
		name := artifacts.SamplesName(r.RunID, r.Attempt)
		sum, err := w.Samples(name, raw)
		if err != nil {
			return err
		}
		r.Series[0].File, r.Series[0].SHA256 = name, sum
	}
	return w.Append(r)
}

func (s Spec) plan() (*matrix.Plan, error) {
	name := s.Matrix
	if name == "" {
		name = "quick"
	}
	m, err := matrix.Builtin(name)
	if err != nil {
		return nil, err
	}
	p, err := matrix.NewPlan(m, s.Selection)
	if err != nil {
		return nil, err
	}
	return p, p.ResolveBackends(func(matrix.LinkSpec) (string, error) { return s.backend(), nil })
}

func (s Spec) backend() string {
	if s.Backend == "" {
		return link.BackendNFT
	}
	return s.Backend
}

func (s Spec) manifest(p *matrix.Plan) artifacts.Manifest {
	m := artifacts.Manifest{
		Replicates: s.Replicates, ID: p.Matrix + "-20261012T080000Z-norev", Kind: p.Kind, Matrix: artifacts.MatrixRef{Name: p.Matrix, Seed: p.Seed}, PlanHash: p.Hash, Columns: p.Columns(),
		Options: s.options(p), HostFingerprint: "invented", Runtime: "local", LinkBackends: map[string]string{}, Placement: artifacts.Placement{Label: "reduced"},
		RSS: map[string]artifacts.RSS{}, Drivers: map[string]artifacts.DriverRef{}, Code: artifacts.Code{Toolchain: "go1.26.8"}, Started: day(), Planned: len(p.Runs), NotRun: len(p.Runs),
	}
	if s.Host != "" {
		m.HostFingerprint = s.Host
	}
	for _, r := range p.Runs {
		m.LinkBackends[r.Profile.ID] = r.Profile.Link.Backend
		m.RSS[r.Profile.Suite] = artifacts.RSS{FloorKiB: 584, StepKiB: 128, FormulaKiB: 128, Measured: true}
	}
	for _, d := range p.Drivers() {
		m.Drivers[d] = artifacts.DriverRef{SHA256: fmt.Sprintf("%064x", len(d)), Describe: &wire.Describe{
			Type: wire.TypeDescribe, Contract: 1, Transport: d, Reliable: d != "udp", Encryption: "none"}}
	}
	return m
}

// options is the selection in the words that bench run stores.
func (s Spec) options(p *matrix.Plan) []string {
	words := []string{"--matrix=" + p.Matrix}
	for _, o := range s.Selection.Only {
		words = append(words, "--only="+o)
	}
	for _, e := range s.Selection.Extras {
		words = append(words, "--extra="+e)
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"repetitions", float64(s.Selection.Repetitions)}, {"scale", s.Selection.Scale}, {"max-connections", float64(s.Selection.MaxConnections)}} {
		if f.v != 0 {
			words = append(words, fmt.Sprintf("--%s=%v", f.name, f.v))
		}
	}
	return words
}

// random is the noise of one run: the same for the same run and salt on every machine.
func (s Spec) random(run matrix.Run) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(run.ID + s.Salt)) // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// factor is how fast a run is beside the base rate.
func (s Spec) factor(run matrix.Run, rng *rand.Rand) float64 {
	noise, f := s.Noise, 1.0
	if noise == 0 {
		noise = 0.01
	}
	if s.Rate != nil {
		f = s.Rate(run)
	}
	return f * math.Exp(noise*rng.NormFloat64())
}
