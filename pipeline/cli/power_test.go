package cli

import (
	"encoding/json"
	"testing"
)

func TestPlanPowerGolden(t *testing.T) {
	code, out, errs := bench("plan", "--power")
	if code != ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	golden(t, "plan-power.txt", out)
}

func TestPlanPowerTakesTimesFromAnArtifact(t *testing.T) {
	var doc struct {
		Claims []struct {
			ID    string `json:"id"`
			Timed int    `json:"cells_timed"`
		} `json:"claims"`
	}
	code, out, errs := bench("plan", "--power", "--json", "--from", "../../artifacts/published-20261201T014312Z-8c6e934")
	if code != ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	must(t, json.Unmarshal([]byte(out), &doc))
	got := map[string]int{}
	for _, c := range doc.Claims {
		got[c.ID] = c.Timed
	}
	if len(got) != 4 || got["single-5pct-loss"] != 4 {
		t.Errorf("cells timed by claim: %v", got)
	}
}

func TestPlanPowerRefusals(t *testing.T) {
	for _, args := range [][]string{{"plan", "--from", "x"}, {"plan", "--power", "--from", "no-such-folder"}} {
		if code, _, errs := bench(args...); code != ExitUsage || errs == "" {
			t.Errorf("%v: exit %d %q", args, code, errs)
		}
	}
}
