package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

var update = flag.Bool("update", false, "rewrite golden files")

// cell makes n runs of a cell whose numbers differ by repetition.
func cell(suite, id, variant string, n int, edit func(*artifacts.Record)) (ids []string, rs []artifacts.Record) {
	for i := 1; i <= n; i++ {
		run := fmt.Sprintf("%s/%s/r%d", id, variant, i)
		r := artifacts.Record{
			Type: artifacts.TypeRun, RunID: run, Attempt: 1, Outcome: artifacts.OutcomeOK,
			Profile: matrix.Profile{ID: id, Suite: suite, PayloadBytes: 800, Connections: 64, Messages: 16384},
			Client: artifacts.Side{
				Result: &wire.Result{
					ElapsedNS: int64(i) * 5e9, Messages: 1 << 20, Bytes: 800 << 20, Verified: 1 << 20,
					Sparse: &wire.Quantiles{N: 10000, P50NS: int64(12000 + i*1000), P95NS: 26800, P99NS: 66100},
					Loaded: &wire.Quantiles{N: 262144, P50NS: int64(i) * 1e6, P95NS: 5e6, P99NS: 122.9e6},
				},
				Exit: &wire.Exit{MaxRSSKiB: 3584 + int64(i)*128},
			},
			Server: artifacts.Side{Exit: &wire.Exit{MaxRSSKiB: 3456}},
		}
		edit(&r)
		ids, rs = append(ids, run), append(rs, r)
	}
	return ids, rs
}

// fixture is the summary of fixtureArtifact.
func fixture(t testing.TB) *summary.Summary {
	_, s := fixtureArtifact(t)
	return s
}

// fixtureArtifact has every suite, a missing driver, a run that failed once, a cell that never ran, probes and disturbances.
func fixtureArtifact(t testing.TB) (*artifacts.Artifact, *summary.Summary) {
	t.Helper()
	var ids []string
	var records []artifacts.Record
	add := func(suite, id, variant string, n int, edit func(*artifacts.Record)) {
		i, r := cell(suite, id, variant, n, edit)
		ids, records = append(ids, i...), append(records, r...)
	}
	keep := func(*artifacts.Record) {}
	lossy := func(r *artifacts.Record) { r.Profile.Connections, r.Profile.Link.LossPPM = 1, 50_000 }
	delayed := func(r *artifacts.Record) {
		lossy(r)
		r.Profile.Link.DelayNS, r.Profile.Window = 5*time.Millisecond, 64
	}
	missing := func(r *artifacts.Record) {
		r.Outcome, r.Reason, r.Client, r.Server = artifacts.OutcomeUnsupported, "driver | is\nnot built", artifacts.Side{}, artifacts.Side{}
	}
	for _, v := range []string{"udp", "tcp"} { // not the order of the columns
		add(wire.SuiteSingle, "single-800B-1c-l5-d0", v, 3, lossy)
		add(wire.SuiteSingle, "single-800B-1c-l5-d5", v, 1, delayed)
		add(wire.SuiteSparse, "sparse-800B-1c-l0-d0", v, 5, withSeries)
		add(wire.SuiteConcurrent, "concurrent-800B-64c-l0-d0", v, 3, disturbed)
		add(wire.SuiteLoaded, "loaded-800B-64c-l0-d0", v, 3, keep)
	}
	add(wire.SuiteConcurrent, "concurrent-800B-64c-l0-d0", "raknet-send", 3, missing)
	add(wire.SuiteSparse, "sparse-800B-1c-l0-d0", "raknet-send", 5, missing)
	ids = append(ids, "loaded-64B-64c-l0-d0/tcp/r1") // planned, never run
	columns := []string{"tcp", "raknet-send", "udp"}
	s, err := summary.Build(columns, ids, records)
	if err != nil {
		t.Fatal(err)
	}
	return &artifacts.Artifact{Manifest: fixtureManifest(columns), Plan: planOf(ids), Records: records, Probes: fixtureProbes(), Sealed: true}, s
}

func golden(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s changed; read it and rerun with -update:\n%s", name, got)
	}
}

func TestMarkdownGolden(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, fixture(t), "quick-x (quick, runtime local, placement: reduced)"); err != nil {
		t.Fatal(err)
	}
	golden(t, "results.md", b.Bytes())
	for _, line := range strings.Split(b.String(), "\n") {
		if strings.HasPrefix(line, "|") && strings.Contains(line, "|  |") {
			t.Errorf("a cell is blank: %s", line)
		}
		if strings.Contains(line, "NaN") || strings.Contains(line, "%!") {
			t.Errorf("a cell is no number: %s", line)
		}
	}
}

func TestTerminalGolden(t *testing.T) {
	var b bytes.Buffer
	if err := Terminal(&b, fixture(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "terminal.txt", b.Bytes())
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1048576: "1,048,576"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
