package oci

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oras.land/oras-go/v2/registry/remote/retry"

	"transportbench/artifacts"
)

var day = time.Date(2026, 10, 12, 8, 0, 0, 0, time.UTC)

const id = "test-20261012T080000Z-1a2b3c4"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// impatient is a client that tries as often as the real one and waits less. It must try again: for a moment after a broken upload,
// docker-registry answers 500 to whoever asks for the blob.
func impatient() *Client {
	return &Client{policy: &retry.GenericPolicy{
		Retryable: retry.DefaultPredicate, Backoff: retry.ExponentialBackoff(5*time.Millisecond, 2, 0), MaxWait: time.Second, MaxRetry: 5,
	}}
}

// artifact makes a sealed artifact whose one run could not be tried, with a log of size bytes and a derived file.
func artifact(t testing.TB, size int) string {
	t.Helper()
	return sealed(t, size, nil)
}

// replication makes an artifact that names another one as its original.
func replication(t testing.TB, original string) string {
	t.Helper()
	seal, err := os.ReadFile(filepath.Join(original, artifacts.SumsFile))
	must(t, err)
	return sealed(t, 48, &artifacts.Replicates{ID: id, Kind: "custom", SHA256: fmt.Sprintf("%x", sha256.Sum256(seal)), Ladder: fmt.Sprintf("%x", sha256.Sum256(ladder))})
}

// ladder stands for replication.json, which is not this package's matter.
var ladder = []byte("{}\n")

func sealed(t testing.TB, size int, of *artifacts.Replicates) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), id)
	run := "single-800B-1c-l0-d0/tcp/r1"
	end := day.Add(time.Minute)
	m := artifacts.Manifest{ID: id, Kind: "custom", PlanHash: strings.Repeat("a", 64), Started: day, Finished: &end, Planned: 1, Unsupported: 1,
		MeasuredOn: []byte(`{"kernel": "6.1"}`), Code: artifacts.Code{Commit: "1a2b3c4"}, Drivers: map[string]artifacts.DriverRef{"tcp": {SHA256: "bb"}}, Replicates: of}
	w, err := artifacts.Create(dir, m, fmt.Appendf(nil, "0\t0\t%s\n", run))
	must(t, err)
	if of != nil {
		must(t, w.AppendReplication(ladder))
	}
	log, err := w.Log(artifacts.LogName(run, 1, "client"), bytes.Repeat([]byte("0123456789abcdef"), size/16))
	must(t, err)
	r := &artifacts.Record{RunID: run, Attempt: 1, Outcome: artifacts.OutcomeUnsupported, Reason: "no such link", Started: day}
	r.Client.Log = log
	must(t, w.Append(r))
	must(t, w.Seal(w.Manifest()))
	must(t, w.Close())
	must(t, os.Mkdir(filepath.Join(dir, "tables"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "tables", "single.md"), []byte("| a |\n"), 0o644))
	return dir
}

func parse(t testing.TB, s string) Ref {
	t.Helper()
	r, err := ParseRef(s)
	must(t, err)
	return r
}

// check is what the tests let a pull verify.
func check(dir string) error {
	rep, err := artifacts.Verify(dir)
	if err == nil && len(rep.Findings) > 0 {
		return rep.Findings[0]
	}
	return err
}

func push(t testing.TB, dir string, to Ref, opt PushOptions) Pushed {
	t.Helper()
	p, err := impatient().Push(context.Background(), dir, to, opt)
	must(t, err)
	return p
}

// contents maps every file below dir to its bytes.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p) // p is below dir
		all[filepath.ToSlash(rel)] = string(b)
		return err
	}))
	return all
}

// bringsBack pulls ref and compares every byte with dir.
func bringsBack(t testing.TB, ref Ref, dir string) Pulled {
	t.Helper()
	out := filepath.Join(t.TempDir(), "copy")
	p, err := impatient().Pull(context.Background(), ref, PullOptions{Dir: out, Check: check})
	must(t, err)
	want, got := contents(t, dir), contents(t, out)
	if len(want) != len(got) || len(want) != p.Files {
		t.Fatalf("%d files came back as %d, reported %d", len(want), len(got), p.Files)
	}
	for name, b := range want {
		if got[name] != b {
			t.Errorf("%s came back with other bytes", name)
		}
	}
	return p
}

func mustManifest(t testing.TB, dir string) artifacts.Manifest {
	t.Helper()
	m, err := artifacts.ReadManifest(dir)
	must(t, err)
	return m
}
