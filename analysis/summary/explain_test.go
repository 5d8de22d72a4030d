package summary

import (
	"math"
	"strings"
	"testing"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

func TestExplain(t *testing.T) {
	art, s := ratioArtifact(t, []string{"a", "b"}, 1, 3, func(_, c, rep int) int64 { return int64(rep) * 1e9 }, func(r *artifacts.Record) {
		steal := "1000"
		if r.Repetition == 3 {
			steal = "500000"
		}
		r.Host = []byte(`{"counters":{"mono_ns":1000000,"cpu":[{"steal_ns":` + steal + `,"softirq_ns":"unknown"}],"context_switches":5,"pressure":{"cpu":{"some_us":"unknown"}}}}`)
	})
	again := art.Records[0]
	again.Attempt, again.Started = 2, again.Started.Add(1)
	art.Records = append(art.Records, again)
	art.Probes = []artifacts.Probe{{Block: 2, Results: []artifacts.ProbeResult{{Variant: "udp"}}}}
	e, err := Explain(art, s, matrix.Cell{Profile: "single-100B-1c-l0-d0", Variant: "a"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Runs) != 4 || e.Runs[0].Counted || !e.Runs[3].Counted {
		t.Fatalf("attempts: %+v", e.Runs)
	}
	if w := e.Runs[e.Worst]; w.Record.Repetition != 3 || len(e.Suspect) != 1 || !strings.HasPrefix(e.Suspect[0], "stolen time 50 %") {
		t.Errorf("worst %s, suspects %q", w.Record.RunID, e.Suspect)
	}
	r2 := e.Runs[1]
	if r2.After != "single-100B-1c-l0-d0/b/r2" || r2.Before != "" || r2.Probe == nil || math.IsNaN(r2.Value) {
		t.Errorf("r2: %+v", r2)
	}
	if want := "bench run --matrix quick --scale 0.05 --repetitions 2 --only profile=single-100B-1c-l0-d0,variant=a"; r2.Command != want {
		t.Errorf("command %q, want %q", r2.Command, want)
	}
	if _, err := Explain(art, s, matrix.Cell{Profile: "x", Variant: "a"}, ""); err == nil {
		t.Error("an unplanned cell was explained")
	}
	if _, err := Explain(art, s, e.Cell, "nonsense"); err == nil {
		t.Error("an unknown metric was explained")
	}
}

// TestSensitivityFindsTheFlip: one burst ten times as fast turns the order of means, not of the mean log ratio.
func TestSensitivityFindsTheFlip(t *testing.T) {
	ns := [][]int64{{1000, 1000, 100}, {700, 700, 350}} // in units of 1e6
	art, s := ratioArtifact(t, []string{"a", "b"}, 1, 3, func(_, c, rep int) int64 { return ns[c][rep-1] * 1e6 }, nil)
	got, err := Sensitivities(art, s, []string{Throughput, SparseP50})
	if err != nil {
		t.Fatal(err)
	}
	flips := map[string]bool{}
	for _, f := range got.Flips {
		flips[f.Choice] = true
		if f.Choice == ChoiceMean && math.Abs(f.Other-(2/0.7+1/0.35)/12) > 1e-9 {
			t.Errorf("ratio of means %v", f.Other)
		}
	}
	// b / a by blocks: 1.43, 1.43, 0.286: mean log ratio below 1, median above, least above, greatest and mean below.
	if flips[ChoiceMean] || flips[ChoiceMax] || !flips[ChoiceMedian] || !flips[ChoiceMin] || got.Tried[ChoiceMean] != 2 {
		t.Errorf("flips %v, tried %v", flips, got.Tried)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "lack their raw samples") {
		t.Errorf("notes %q", got.Notes)
	}
}
