package cli

import (
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// reported builds an artifact as it is before anything is derived.
func reported(t *testing.T, s summarytest.Spec) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "artifact")
	noError(t, summarytest.Build(dir, s))
	return dir
}

func small() summarytest.Spec {
	return summarytest.Spec{Selection: summarytest.Small("suite=single,loss=1", "suite=loaded")}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestReportOfThePublishedPlan holds the limits of a full matrix: 623 runs in a page under 3 MiB, the same bytes each time.
func TestReportOfThePublishedPlan(t *testing.T) {
	if testing.Short() {
		t.Skip("unsupported in -short: writes 623 synced runs")
	}
	dir := reported(t, summarytest.Spec{Matrix: "published", Selection: matrix.Selection{Scale: 0.01}})
	files, err := writeReport(dir, false)
	noError(t, err)
	again, err := writeReport(dir, false)
	noError(t, err)
	names := map[string]bool{}
	for i, f := range files {
		names[f.name] = true
		if !bytes.Equal(f.data, again[i].data) {
			t.Errorf("%s has other bytes the second time", f.name)
		}
	}
	for _, want := range []string{"report.html", "plots/single-throughput.svg", "plots/sparse-sparse_p50.svg", "plots/concurrent-throughput.svg", "plots/loaded-loaded_p99.svg"} {
		if !names[want] {
			t.Errorf("there is no %s among %v", want, slices.Sorted(maps.Keys(names)))
		}
	}
	a, err := artifacts.Load(dir)
	noError(t, err)
	page := files[0].data
	if len(a.Plan) != 623 || len(page) > 3<<20 {
		t.Errorf("%d runs give a page of %d bytes, want 623 and at most 3 MiB", len(a.Plan), len(page))
	}
	for _, p := range a.Plan {
		if !bytes.Contains(page, []byte(`<th scope="row">`+p.RunID)) {
			t.Fatalf("run %s is not on the page", p.RunID)
		}
	}
	t.Logf("page of %d runs: %d bytes", len(a.Plan), len(page))
}

// TestDerivedFilesKeepEachOther holds that analyze and report may run in any order and list each other's files once.
func TestDerivedFilesKeepEachOther(t *testing.T) {
	dir := reported(t, small())
	_, err := writeReport(dir, false)
	noError(t, err)
	noError(t, derive(dir, io.Discard))
	first, err := readDerivedSums(dir)
	noError(t, err)
	_, err = writeReport(dir, false)
	noError(t, err)
	second, err := readDerivedSums(dir)
	noError(t, err)
	if !maps.Equal(first, second) || first["report.html"] == "" || first["summary.tsv"] == "" {
		t.Errorf("sums differ by the order of commands:\n%v\n%v", first, second)
	}
	noError(t, os.Remove(filepath.Join(dir, "report.html")))
	if left, err := readDerivedSums(dir); err != nil || left["report.html"] != "" {
		t.Errorf("a removed file is still listed (%v)", err)
	}
}

// TestRerunCommand gives every word to a real shell and compares what arrives.
func TestRerunCommand(t *testing.T) {
	m := artifacts.Manifest{Options: []string{"--matrix=published", "--only=suite=single,loss=1|5", "--extra=all", "--scale=0.05", "--driver=it's $(odd)"}}
	got := rerunCommand(m, "single-800B-1c-l0-d0/tcp/r2")
	want := []string{"bench", "run", "--matrix=published", "--extra=all", "--scale=0.05", "--driver=it's $(odd)", "--only=profile=single-800B-1c-l0-d0,variant=tcp"}
	out, err := exec.Command("sh", "-c", `printf '%s\n' `+got).Output()
	if err != nil {
		t.Fatal(err)
	}
	if words := strings.Split(strings.TrimSpace(string(out)), "\n"); !slices.Equal(words, want) {
		t.Errorf("a shell reads %q, want %q", words, want)
	}
	if rerunCommand(m, "nonsense") != "" {
		t.Error("a malformed run id has a command")
	}
}

// TestReportCommand is what a user types.
func TestReportCommand(t *testing.T) {
	dir := reported(t, small())
	var out, errs bytes.Buffer
	if code := Main([]string{"report", "--png", dir}, nil, &out, &errs); code != ExitOK || !strings.Contains(out.String(), "report.html\t") || !strings.Contains(out.String(), ".png\t") {
		t.Errorf("exit %d, %s%s", code, out.String(), errs.String())
	}
	for _, args := range [][]string{{"report"}, {"report", t.TempDir()}, {"report", dir, dir}} {
		errs.Reset()
		if code := Main(args, nil, io.Discard, &errs); code != ExitUsage || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
	}
}
