package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transportbench/analysis/summary"
	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// honest builds an artifact with its derived files and returns its folder.
func honest(t *testing.T) string {
	t.Helper()
	return invented(t, summarytest.Spec{Selection: summarytest.Small("suite=single,loss=1", "suite=loaded")})
}

func invented(t *testing.T, s summarytest.Spec) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "artifact")
	must(t, summarytest.Build(dir, s))
	must(t, derive(dir, &bytes.Buffer{}))
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// failed returns the rules that verify finds broken, each once, in order.
func failed(t *testing.T, dir string) []string {
	t.Helper()
	v, err := verify(dir)
	must(t, err)
	var rules []string
	for _, f := range v.Findings {
		if f.Level != summary.LevelFail {
			continue
		}
		if f.Path == "" || f.Expected == f.Found {
			t.Errorf("finding says nothing: %+v", f)
		}
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

func TestHonestArtifactHasNoFinding(t *testing.T) {
	dir := honest(t)
	_, err := writeReport(dir, false)
	must(t, err)
	v, err := verify(dir)
	must(t, err)
	for _, f := range v.Findings {
		t.Errorf("%+v", f)
	}
	for _, rule := range strings.Fields(`seal plan-hash plan kind columns planned-run plan-settings run-id run-order run-times run-missing manifest-counts
		messages bytes verified lost server-connections server-messages little-law burst-time per-connection outside-clock wire-bytes quantile-order series-order
		series-driver rss-samples link-readback loss-band loss-aggregate column-void samples-hash samples-kind samples-series samples-sum derived derived-sums`) {
		if v.Checked[rule] == 0 {
			t.Errorf("rule %s looked at nothing", rule)
		}
	}
}

// Every forgery leaves an artifact whose chain, sums and derived files have been made to fit again, unless it says otherwise.
func TestForgeriesAreFound(t *testing.T) {
	line := func(i int, old, fresh string) func(*forger) {
		return func(f *forger) { f.replace(i, old, fresh) }
	}
	model := honest(t)
	for name, c := range map[string]struct {
		forge func(*forger)
		rules string // at least these
	}{
		"faster burst":         {func(f *forger) { f.number(0, `"elapsed_ns":`, 7) }, "burst-time outside-clock"},
		"faster everywhere":    {func(f *forger) { f.number(0, `"elapsed_ns":`, 7); f.number(0, `"per_connection_ns":[`, 7) }, "little-law outside-clock"},
		"more messages":        {func(f *forger) { f.number(0, `"messages":`, 9) }, "plan-settings planned-run messages verified bytes"},
		"better percentile":    {func(f *forger) { f.number(1, `"p99_ns":`, 1) }, "quantile-order series-driver"},
		"better series":        {func(f *forger) { f.number(1, `"quantiles_ns":[`, 1) }, "series-order samples-series"},
		"less memory":          {func(f *forger) { f.number(1, `"max_rss_kib":`, -2000) }, "rss-floor"},
		"fewer drops":          {func(f *forger) { f.number(0, `"dropped":`, 99) }, "loss-band"},
		"no loss at all":       {line(0, `"loss_ppm":10000,"delay_ns":0,"loss_unit"`, `"loss_ppm":0,"delay_ns":0,"loss_unit"`), "link-readback"},
		"easier link":          {line(0, `"loss_ppm":10000,"delay_ns":0,"mtu":1500,"limit"`, `"loss_ppm":5000,"delay_ns":0,"mtu":1500,"limit"`), "plan-settings planned-run link-readback"},
		"server counts":        {func(f *forger) { f.number(0, `"done","connections":1,"messages":`, 9) }, "server-messages"},
		"wire bytes":           {func(f *forger) { f.number(0, `"bytes_lo":`, 0) }, "wire-bytes"},
		"clock":                {func(f *forger) { f.number(0, `"outside_burst_ns":`, 9) }, "outside-clock"},
		"run dropped":          {func(f *forger) { f.lines = f.lines[:len(f.lines)-1] }, "manifest-counts run-missing"},
		"run dropped, counted": {func(f *forger) { f.lines = f.lines[:len(f.lines)-1]; f.count("ok", -1); f.count("not_run", 1) }, "run-missing"},
		"order":                {func(f *forger) { f.lines[0], f.lines[3] = f.lines[3], f.lines[0] }, "run-order"},
		"manifest counts":      {func(f *forger) { f.count("ok", 1); f.count("failed", -1) }, "manifest-counts"},
		"kind":                 {func(f *forger) { f.manifest["kind"] = "published" }, "kind"},
		"plan hash":            {func(f *forger) { f.manifest["plan_hash"] = strings.Repeat("0", 64) }, "plan-hash"},
		"columns":              {func(f *forger) { f.manifest["columns"] = []string{"udp", "tcp"} }, "columns"},
		"plan":                 {func(f *forger) { f.edit("plan.tsv", "\t150\t", "\t151\t") }, "plan plan-settings"},
		"failed run":           {func(f *forger) { f.fail(0) }, "column-void"},
		"other samples":        {func(f *forger) { f.swapSamples(0, 1) }, "samples-hash samples-series"},
		"derived file": {func(f *forger) {
			f.after = func() { f.edit("summary.tsv", "\tthroughput\tB/s\t3\t", "\tthroughput\tB/s\t4\t") }
		}, "derived derived-sums"},
		"derived file, hashed":  {func(f *forger) { f.after = func() { f.rehash("tables/results.md", "n=3", "n=9") } }, "derived"},
		"report":                {func(f *forger) { f.after = func() { f.report(); f.rehash("report.html", "</html>", "<p></p></html>") } }, "derived"},
		"derived stranger":      {func(f *forger) { f.after = func() { f.write("tables/more.md", "x") } }, "derived derived-sums"},
		"not made to fit: line": {func(f *forger) { f.after = func() { f.edit("runs.ndjson", `"elapsed_ns":2`, `"elapsed_ns":1`) } }, "chain"},
		"not made to fit: file": {func(f *forger) {
			f.after = func() { f.edit("manifest.json", `"runtime": "local"`, `"runtime": "docker"`) }
		}, "seal"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "artifact")
			must(t, os.CopyFS(dir, os.DirFS(model)))
			f := openForger(t, dir)
			c.forge(f)
			f.close()
			got := failed(t, f.dir)
			t.Logf("caught by %v", got)
			for _, want := range strings.Fields(c.rules) {
				if !slices.Contains(got, want) {
					t.Errorf("rule %s did not catch it, only %v did", want, got)
				}
			}
			if len(got) == 0 {
				t.Error("not found")
			}
		})
	}
}

func TestVerifyWithoutSamplesSaysSo(t *testing.T) {
	dir := honest(t)
	must(t, os.RemoveAll(filepath.Join(dir, "samples")))
	v, err := verify(dir)
	must(t, err)
	if !v.Intact || v.Absent == 0 || !strings.Contains(v.Skipped["samples"], "absent") {
		t.Errorf("intact %v, absent %d, skipped %v", v.Intact, v.Absent, v.Skipped)
	}
}

func TestAnalyzeRefusesPercentilesThatSamplesDoNotHave(t *testing.T) {
	f := openForger(t, honest(t))
	f.number(1, `"p99_ns":`, 1)
	f.number(1, `"quantiles_ns":[`, 1)
	f.close()
	code, out, errs := bench("analyze", f.dir)
	if code != ExitNo || !strings.Contains(errs, "samples-series") || !strings.Contains(out, "planned") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestOtherAnalysisIsNoted(t *testing.T) {
	f := openForger(t, honest(t))
	f.edit(artifacts.DerivedSums, "# analysis 2\n", "# analysis 0\n")
	v, err := verify(f.dir)
	must(t, err)
	if len(v.Findings) != 1 || v.Findings[0].Rule != "derived-version" || !v.Intact {
		t.Errorf("%+v", v.Findings)
	}
}

func TestVerifyJSONAndExitCode(t *testing.T) {
	dir := honest(t)
	var out, errs bytes.Buffer
	if code := Main([]string{"verify", "--json", dir}, nil, &out, &errs); code != ExitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	must(t, os.WriteFile(filepath.Join(dir, "summary.csv"), []byte("x\n"), 0o644))
	out.Reset()
	if code := Main([]string{"verify", "--json", dir}, nil, &out, &errs); code != ExitNo {
		t.Fatalf("exit %d of a changed derived file", code)
	}
	var got struct {
		Intact   bool              `json:"intact"`
		Findings []summary.Finding `json:"findings"`
	}
	must(t, json.Unmarshal(out.Bytes(), &got))
	if got.Intact || len(got.Findings) != 2 || got.Findings[0].Rule != "derived" || got.Findings[0].Path != "summary.csv" {
		t.Errorf("%+v", got)
	}
}

// The probes of this selection run on a clean link that none of its profiles has.
func TestPlanWithProbesIsMadeAgain(t *testing.T) {
	for _, backend := range []string{"netem", "nft", "nfqueue"} {
		dir := invented(t, summarytest.Spec{Matrix: "published", Backend: backend, Selection: matrix.Selection{Only: []string{"suite=single,loss=5,variant=tcp"}, Scale: 0.01}})
		if got := failed(t, dir); len(got) > 0 {
			t.Errorf("%s: %v", backend, got)
		}
	}
}

func TestOwnMatrixCannotBePlannedAgain(t *testing.T) {
	a, err := artifacts.Load(honest(t))
	must(t, err)
	a.Manifest.Options[0] = "--matrix=mine.yaml"
	into := summary.NewAudit()
	auditReplan(into, a)
	if len(into.Findings) != 0 || !strings.Contains(into.Skipped["plan-hash"], "mine.yaml") {
		t.Errorf("findings %v, skipped %v", into.Findings, into.Skipped)
	}
}
