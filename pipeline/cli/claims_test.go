package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transportbench/analysis/summary"
	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts/reference"
	"transportbench/pipeline/matrix"
)

// asPublished gives every run the speed that was printed for its cell: the tables as if measured here.
func asPublished(t *testing.T) func(matrix.Run) float64 {
	t.Helper()
	ref, err := reference.Published()
	must(t, err)
	return func(r matrix.Run) float64 {
		c, ok := ref.Find(r.Profile.ID + "/" + r.Variant.Name)
		switch q, has := c.Metrics[summary.Throughput]; {
		case has:
			return q.Median / 100
		case ok:
			return 20 / c.Metrics[summary.LoadedP50].Median
		}
		return 1
	}
}

// claimed is the part of the published matrix that two of the statements need, in full size.
func claimed() matrix.Selection {
	return matrix.Selection{Only: []string{"profile=single-800B-1c-l5-d0,variant=raknet-send|kcp-c|quic-go|tcp",
		"profile=concurrent-64B-1024c-l0-d0,variant=raknet-batch|quic-go|tcp|raknet-send|kcp-c"}}
}

func TestClaimsOnPrintedNumbersGolden(t *testing.T) {
	code, out, errs := bench("claims", "../../artifacts/reference/2026-10-12")
	if code != ExitUndecided || !strings.Contains(errs, "2 of 4 statements are not decidable") {
		t.Errorf("exit %d: %s", code, errs)
	}
	golden(t, "claims-reference.txt", out)
}

func TestClaims(t *testing.T) {
	rate := asPublished(t)
	for name, c := range map[string]struct {
		spec summarytest.Spec
		want []string // of small-messages-batch and single-5pct-loss
	}{
		"as published": {summarytest.Spec{Rate: rate, Noise: 0.01}, []string{summary.ClaimAcross, summary.ClaimHolds}},
		"noisy":        {summarytest.Spec{Rate: rate, Noise: 0.8}, []string{summary.ClaimUndecided, summary.ClaimUndecided}},
		"reversed":     {summarytest.Spec{Rate: func(r matrix.Run) float64 { return 1 / rate(r) }, Noise: 0.01}, []string{summary.ClaimFails, summary.ClaimFails}},
	} {
		t.Run(name, func(t *testing.T) {
			c.spec.Matrix, c.spec.Selection = "published", claimed()
			dir := filepath.Join(t.TempDir(), "a")
			must(t, summarytest.Build(dir, c.spec))
			_, rs, err := claims(dir)
			must(t, err)
			got := []string{rs[0].Verdict, rs[1].Verdict}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v\n%+v", got, c.want, rs[:2])
			}
			if rs[2].Verdict != summary.ClaimUndecided || !strings.Contains(rs[2].Pairs[0].Reason, "not in the plan") {
				t.Errorf("a statement about cells that were not measured: %+v", rs[2])
			}
		})
	}
}

func TestClaimsRefuseOtherCounts(t *testing.T) {
	sel := claimed()
	sel.Scale = 0.01
	dir := filepath.Join(t.TempDir(), "a")
	must(t, summarytest.Build(dir, summarytest.Spec{Matrix: "published", Selection: sel, Rate: asPublished(t)}))
	code, out, _ := bench("claims", dir)
	if code != ExitUndecided || !strings.Contains(out, "published with 50000") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, out, _ := bench("claims", "--json", dir); code != ExitUndecided || !strings.Contains(out, `"label": "published 12 October 2026; its RakNet columns are the Rust library"`) {
		t.Errorf("exit %d\n%.500s", code, out)
	}
}
