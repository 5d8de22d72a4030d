package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

var updateGolden = flag.Bool("update-golden", false, "rewrite testdata/golden")

// bench runs a command and returns its exit code and what it printed.
func bench(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = Main(args, nil, &o, &e)
	return code, o.String(), e.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *updateGolden {
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Errorf("%s changed; rerun with -update-golden after checking: %s", name, firstDifference(want, []byte(got)))
	}
}

// pair is the selection of the comparisons: two suites, few messages, n repetitions.
func pair(n int) matrix.Selection {
	return matrix.Selection{Only: []string{"suite=single|loaded,loss=0,variant=tcp|quic-go"}, Repetitions: n, Scale: 0.01, MaxConnections: 4}
}

// slower makes the runs of one column take longer.
func slower(column string, factor float64) func(matrix.Run) float64 {
	return func(r matrix.Run) float64 {
		if r.Variant.Name == column {
			return 1 / factor
		}
		return 1
	}
}

func TestCompare(t *testing.T) {
	before := invented(t, summarytest.Spec{Selection: pair(5), Noise: 0.005})
	for name, c := range map[string]struct {
		after    summarytest.Spec
		code     int
		says     string
		tolerant string
	}{
		"same":           {summarytest.Spec{Selection: pair(5), Noise: 0.005, Salt: "b"}, ExitOK, "14 comparisons at a tolerance of 0.1: 14 ok, 0 regressions, 0 undecided", "0.1"},
		"slower":         {summarytest.Spec{Selection: pair(5), Noise: 0.005, Salt: "b", Rate: slower("tcp", 1.3)}, ExitNo, "3 regressions", ""},
		"slower, wanted": {summarytest.Spec{Selection: pair(5), Noise: 0.005, Salt: "b", Rate: slower("tcp", 1.3)}, ExitOK, "0 regressions", "0.5"},
		"faster":         {summarytest.Spec{Selection: pair(5), Noise: 0.005, Salt: "b", Rate: slower("tcp", 0.7)}, ExitOK, "0 regressions", "0.1"},
		"noisy":          {summarytest.Spec{Selection: pair(5), Noise: 0.3, Salt: "b"}, ExitUndecided, "not decidable with 5 and 5 runs", ""},
		"one run":        {summarytest.Spec{Selection: pair(1), Noise: 0.005, Salt: "b"}, ExitUndecided, "not decidable with 5 and 1 runs", ""},
		"other counts":   {summarytest.Spec{Selection: matrix.Selection{Only: pair(5).Only, Repetitions: 5, Scale: 0.02, MaxConnections: 4}}, ExitUndecided, "refused: 600 messages", ""},
		"other backend":  {summarytest.Spec{Selection: pair(5), Backend: "netem"}, ExitUndecided, "refused: link backend nft in the first, link backend netem in the second", ""},
		"other machine":  {summarytest.Spec{Selection: pair(5), Host: "elsewhere"}, ExitUsage, `machine (host_fingerprint) is "invented" in the first and "elsewhere"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"compare", before, invented(t, c.after)}
			if c.tolerant != "" {
				args = append(args, "--tolerance", c.tolerant)
			}
			code, out, errs := bench(args...)
			if code != c.code || !strings.Contains(out+errs, c.says) {
				t.Errorf("exit %d, want %d and %q\n%s%s", code, c.code, c.says, out, errs)
			}
		})
	}
}

func TestCompareGolden(t *testing.T) {
	before := invented(t, summarytest.Spec{Selection: pair(5), Noise: 0.005})
	after := invented(t, summarytest.Spec{Selection: pair(5), Noise: 0.02, Salt: "b", Rate: slower("quic-go", 1.2)})
	_, out, _ := bench("compare", before, after)
	golden(t, "compare.txt", out)
	_, out, _ = bench("compare", "--json", before, after)
	golden(t, "compare.json", out)
}

// Artifacts that differ by chance alone show a regression in at most 5 % of pairs, whatever the number of comparisons.
func TestCompareRaisesFewFalseAlarms(t *testing.T) {
	alarms := 0
	const rounds = 40
	for i := range rounds {
		salt := strings.Repeat("x", i)
		a := filepath.Join(t.TempDir(), "a")
		b := filepath.Join(t.TempDir(), "b")
		must(t, summarytest.Build(a, summarytest.Spec{Selection: pair(5), Noise: 0.03, Salt: salt + "a"}))
		must(t, summarytest.Build(b, summarytest.Spec{Selection: pair(5), Noise: 0.03, Salt: salt + "b"}))
		ds, err := compare(a, b, 0)
		must(t, err)
		for _, d := range ds {
			if d.Verdict == "regression" {
				alarms++
				break
			}
		}
	}
	if alarms > 5 { // 5 % of 40 is 2; 6 or more has a chance of 1 in 100
		t.Errorf("%d of %d equal pairs raise an alarm at no tolerance", alarms, rounds)
	}
}

func TestAuditOfThePublishedTablesGolden(t *testing.T) {
	dir := "../../artifacts/reference/2026-10-12"
	code, out, errs := bench("audit", "--notes", dir)
	if code != ExitOK {
		t.Errorf("exit %d: %s", code, errs)
	}
	golden(t, "audit-reference.txt", out)
	if code, _, _ := bench("audit", dir+"/cells.ndjson"); code != ExitOK {
		t.Errorf("exit %d for a file of the folder", code)
	}
}

func TestAuditOfRuns(t *testing.T) {
	spec := summarytest.Spec{Selection: pair(3)}
	if code, out, errs := bench("audit", invented(t, spec)); code != ExitOK {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	spec.Change = func(r *artifacts.Record) {
		if r.Variant.Name == "tcp" && r.Repetition == 2 {
			r.Server.Done.Messages--
		}
	}
	code, out, errs := bench("audit", invented(t, spec))
	if code != ExitNo || !strings.Contains(out, "finding: server-messages: runs.ndjson:single-") || !strings.Contains(errs, "2 findings") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, _ := bench("audit", t.TempDir()); code != ExitUsage {
		t.Errorf("exit %d for an empty folder", code)
	}
}
