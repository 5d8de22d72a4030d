package artifacts

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

var day = time.Date(2026, 10, 12, 8, 0, 0, 0, time.UTC)

func runID(i int) string { return fmt.Sprintf("single-800B-1c-l0-d0/tcp/r%d", i+1) }

func planTSV(n int) []byte {
	var b []byte
	for i := range n {
		b = fmt.Appendf(b, "%d\t%d\t%s\n", i, i, runID(i))
	}
	return b
}

func manifest(n int) Manifest {
	return Manifest{ID: "test-norev", Kind: "custom", Matrix: MatrixRef{Name: "test"}, PlanHash: "p", Runtime: "fake", Started: day, Planned: n}
}

func record(i, attempt, conns, quantiles int) *Record {
	r := &Record{
		RunID: runID(i), Index: i, Attempt: attempt, Outcome: OutcomeOK, Started: day.Add(time.Duration(i) * time.Second), Repetition: i + 1,
		Profile: matrix.Profile{ID: "single-800B-1c-l0-d0", Suite: wire.SuiteSingle, PayloadBytes: 800, Connections: conns},
		Variant: matrix.Variant{Name: "tcp", Driver: "tcp"},
	}
	r.Client.Result = &wire.Result{Type: wire.TypeResult, ElapsedNS: 1234567890, Messages: 200000}
	for c := range conns {
		r.Client.Result.PerConn = append(r.Client.Result.PerConn, wire.ConnResult{BurstNS: 1_200_000_000 + int64(c), RTTSumNS: 19_000_000_000 + int64(c)})
	}
	q := make([]int64, quantiles)
	for k := range q {
		q[k] = int64(10_000 + 100*k)
	}
	r.Series = []Series{{Kind: "sparse", N: 300, Quantiles: q}}
	return r
}

func rawSamples(kind wire.SampleKind, conns int, ns ...int64) []byte {
	var b bytes.Buffer
	_ = wire.EncodeSamples(&b, kind, conns, ns) // a bytes.Buffer takes everything
	return b.Bytes()
}

// tempDir is in memory where the system has such a folder: a test of this package syncs thousands of times.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "artifacts-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// create starts an artifact of n planned runs of which the first done are finished, with samples and a log each.
func create(t testing.TB, n, done int) *Writer {
	t.Helper()
	w, err := Create(filepath.Join(tempDir(t), "a"), manifest(n), planTSV(n))
	must(t, err)
	for i := range done {
		must(t, w.Begin(runID(i), 1))
		r := record(i, 1, 2, 3)
		add(t, w, r)
		must(t, w.Append(r))
	}
	return w
}

// add gives a record its files.
func add(t testing.TB, w *Writer, r *Record) {
	t.Helper()
	name := SamplesName(r.RunID, r.Attempt)
	hash, err := w.Samples(name, rawSamples(1, 1, 10, 20, 30))
	must(t, err)
	r.Series[0].File, r.Series[0].SHA256 = name, hash
	r.Client.Log, err = w.Log(LogName(r.RunID, r.Attempt, "client"), []byte("a warning\n"))
	must(t, err)
}

func sealed(t testing.TB, n int) string {
	t.Helper()
	w := create(t, n, n)
	m := w.Manifest()
	m.OK = n
	must(t, w.Seal(m))
	must(t, w.Close())
	return w.Dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return b
}

func write(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
}
