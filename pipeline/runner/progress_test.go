package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

var update = flag.Bool("update", false, "rewrite golden files")

// show runs a plan whose second column fails, in virtual time, and returns what a progress printed.
func show(t *testing.T, make func(w *bytes.Buffer) Progress) string {
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		current := ""
		rt := &fakeRuntime{script: func(_ wire.Config, role string) behaviour {
			if role == "client" && strings.Contains(current, "/other/") {
				return func(*fakeProc) int { time.Sleep(2 * time.Second); return 1 }
			}
			if role == "client" {
				return func(p *fakeProc) int { time.Sleep(time.Second); return honestClient(p) }
			}
			return nil
		}}
		opt := options(t, rt, testPlan(t, 1, nil))
		inner := make(&out)
		opt.Progress = watch(func(e Event) {
			if e.Type == EventRun {
				current = e.RunID
			}
			inner.Event(e)
		})
		_, err := Run(t.Context(), opt)
		must(t, err)
		must(t, inner.Close())
	})
	return regexp.MustCompile(`/[a-z]+/[^ "]*/a\b`).ReplaceAllString(out.String(), "DIR")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Fatalf("%s differs (-update rewrites it):\n%s\nwant\n%s", name, got, want)
	}
}

func TestPlainProgress(t *testing.T) {
	golden(t, "plain.txt", show(t, func(w *bytes.Buffer) Progress { return NewPlain(w) }))
}

func TestJSONProgress(t *testing.T) {
	out := show(t, func(w *bytes.Buffer) Progress { return NewJSON(w) })
	golden(t, "progress.ndjson", out)
	for line := range strings.Lines(out) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Total != 4 {
			t.Fatalf("%q: %v", line, err)
		}
	}
}

func TestBarEndsWithTheTotalsAndNamesFailures(t *testing.T) {
	out := show(t, func(w *bytes.Buffer) Progress { return NewBar(w) })
	for _, want := range []string{"other/r1 failed 2.00 s: client: exited 1", "4 planned: 2 ok, 2 failed, 0 unsupported, 0 not run", "2/4", "about 1s left"} {
		if !strings.Contains(out, want) {
			t.Errorf("bar lacks %q in %q", want, out)
		}
	}
}

// closed is a reader that went away.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestGoneReaderStopsNoMeasurement(t *testing.T) {
	for name, p := range map[string]Progress{"plain": NewPlain(closed{}), "bar": NewBar(closed{}), "json": NewJSON(closed{})} {
		opt := options(t, &fakeRuntime{}, testPlan(t, 1, nil))
		opt.Progress = p
		totals, err := Run(t.Context(), opt)
		if totals.OK != 4 || !totals.Sealed || (err != nil) != (name == "json") {
			t.Errorf("%s: %+v, %v", name, totals, err)
		}
	}
}

func TestEstimateComesFromTheNearestKin(t *testing.T) {
	p := func(id, suite string) matrix.Profile { return matrix.Profile{ID: id, Suite: suite} }
	v := func(name string) matrix.Variant { return matrix.Variant{Name: name} }
	e := newEstimator()
	e.left = []task{{run: matrix.Run{Profile: p("a", "single"), Variant: v("tcp")}}}
	if e.remaining() != 0 {
		t.Fatal("estimate out of nothing")
	}
	learn := func(id, suite, name string, d time.Duration) {
		e.learn(&artifacts.Record{Profile: p(id, suite), Variant: v(name), WallNS: d.Nanoseconds(), Outcome: artifacts.OutcomeOK})
	}
	for _, step := range []struct {
		id, suite, name string
		d, want         time.Duration
	}{
		{"z", "loaded", "udp", 64 * time.Second, 64 * time.Second}, // any run
		{"b", "single", "udp", 32 * time.Second, 32 * time.Second}, // same suite
		{"a", "single", "udp", 16 * time.Second, 16 * time.Second}, // same profile
		{"a", "single", "tcp", 2 * time.Second, 2 * time.Second},   // same cell
		{"a", "single", "tcp", 4 * time.Second, 3 * time.Second},   // its mean
	} {
		learn(step.id, step.suite, step.name, step.d)
		if got := e.remaining(); got != step.want {
			t.Fatalf("after %s/%s: %s, want %s", step.id, step.name, got, step.want)
		}
	}
}
