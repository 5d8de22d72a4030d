package summary

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// tiny builds a small artifact with several columns and an unsupported one.
func tiny(t *testing.T) (*artifacts.Artifact, *Summary) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a")
	if err := summarytest.Build(dir, summarytest.Spec{Selection: summarytest.Small("suite=single,loss=1", "suite=sparse|loaded")}); err != nil {
		t.Fatal(err)
	}
	art, err := artifacts.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(art.Plan))
	for i, p := range art.Plan {
		ids[i] = p.RunID
	}
	s, err := Build(art.Manifest.Columns, ids, art.Records)
	if err != nil {
		t.Fatal(err)
	}
	return art, s
}

func golden(t *testing.T, name string, got []byte) {
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
	if !bytes.Equal(got, want) {
		t.Errorf("%s changed; rerun with -update after checking, and raise AnalysisVersion if the same runs now give other bytes", name)
	}
}

func TestBenchFormatIsReadByItsOwnParser(t *testing.T) {
	art, s := tiny(t)
	var b bytes.Buffer
	if err := WriteBench(&b, art); err != nil {
		t.Fatal(err)
	}
	golden(t, "runs.bench", b.Bytes())
	runs := 0
	units := map[string]string{}
	for r := benchfmt.NewReader(bytes.NewReader(b.Bytes()), "runs.bench"); r.Scan(); {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.UnitMetadata:
			units[rec.OrigUnit] = rec.Value
		case *benchfmt.Result:
			checkBench(t, rec, s)
			runs++
		}
	}
	if runs != s.Totals().OK {
		t.Errorf("%d lines, want one for each of %d successful runs", runs, s.Totals().OK)
	}
	if units["B/s"] != "higher" || units["client_rss-B"] != "lower" {
		t.Errorf("directions %v", units)
	}
}

// checkBench holds one line against the summary's value of the same cell.
func checkBench(t *testing.T, r *benchfmt.Result, s *Summary) {
	t.Helper()
	_, parts := r.Name.Parts()
	keys := map[string]string{}
	for _, p := range parts {
		k, v, _ := strings.Cut(strings.TrimPrefix(string(p), "/"), "=")
		keys[k] = v
	}
	row := s.Rows[matrix.Cell{Profile: keys["profile"], Variant: keys["col"]}][Throughput]
	v, ok := r.Value("B/s")
	if !ok || v < row.Min*(1-1e-8) || v > row.Max*(1+1e-8) || r.GetConfig("kind") != "smoke" {
		t.Errorf("%s: throughput %v, want %v-%v", r.Name, v, row.Min, row.Max)
	}
	if p50, ok := r.Value("sparse_p50-sec"); keys["profile"][:6] == "sparse" && (!ok || p50 < 90e-6 || p50 > 110e-6) {
		t.Errorf("%s: p50 %v s", r.Name, p50)
	}
}
