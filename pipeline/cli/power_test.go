package cli

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"testing"

	"transportbench/analysis/summary"
	"transportbench/analysis/summary/summarytest"
	"transportbench/pipeline/matrix"
)

func TestPlanPowerGolden(t *testing.T) {
	code, out, errs := bench("plan", "--power")
	if code != ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	golden(t, "plan-power.txt", out)
}

// TestPlanPowerTakesTimesFromAnArtifact: times of full-size runs count, those of scaled runs would promise too little and do not.
func TestPlanPowerTakesTimesFromAnArtifact(t *testing.T) {
	full, scaled := claimed(), claimed()
	scaled.Scale = 0.01
	for name, c := range map[string]struct {
		sel  matrix.Selection
		want map[string]int
	}{
		"full":   {full, map[string]int{"small-messages-batch": 5, "single-5pct-loss": 4, "policy-throughput": 0, "policy-loaded-rtt": 0}},
		"scaled": {scaled, map[string]int{"small-messages-batch": 0, "single-5pct-loss": 0, "policy-throughput": 0, "policy-loaded-rtt": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a")
			must(t, summarytest.Build(dir, summarytest.Spec{Matrix: "published", Selection: c.sel, Rate: asPublished(t)}))
			code, out, errs := bench("plan", "--power", "--json", "--from", dir)
			if code != ExitOK {
				t.Fatalf("exit %d: %s", code, errs)
			}
			var doc struct {
				Claims []summary.ClaimPower `json:"claims"`
			}
			must(t, json.Unmarshal([]byte(out), &doc))
			got := map[string]int{}
			for _, p := range doc.Claims {
				got[p.ID] = p.Timed
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("cells timed by claim: %v, want %v", got, c.want)
			}
		})
	}
}

func TestPlanPowerRefusals(t *testing.T) {
	for _, args := range [][]string{{"plan", "--from", "x"}, {"plan", "--power", "--from", "no-such-folder"}} {
		if code, _, errs := bench(args...); code != ExitUsage || errs == "" {
			t.Errorf("%v: exit %d %q", args, code, errs)
		}
	}
}
