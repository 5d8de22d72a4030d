package summary

import (
	"slices"
	"strings"
	"testing"
	"time"

	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// built loads an invented artifact.
func built(t *testing.T, s summarytest.Spec) *artifacts.Artifact {
	t.Helper()
	dir := t.TempDir() + "/a"
	if err := summarytest.Build(dir, s); err != nil {
		t.Fatal(err)
	}
	art, err := artifacts.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return art
}

// rules returns what an audit of runs finds at a level, each rule once.
func rules(art *artifacts.Artifact, level string) string {
	a := NewAudit()
	AuditRuns(a, art)
	var got []string
	for _, f := range a.Findings {
		if f.Level == level && !slices.Contains(got, f.Rule) {
			got = append(got, f.Rule)
		}
	}
	slices.Sort(got)
	return strings.Join(got, " ")
}

func TestEveryRuleOfARun(t *testing.T) {
	spec := summarytest.Spec{Matrix: "published", Selection: matrix.Selection{Only: []string{"suite=single,loss=1,variant=tcp|kcp-c", "suite=sparse,variant=tcp"}, Repetitions: 3, Scale: 0.02}}
	const lossy, sparse = 0, -1 // indices from the front and the back
	for want, c := range map[string]struct {
		at     int
		change func(r *artifacts.Record)
	}{
		"":                   {lossy, func(*artifacts.Record) {}},
		"records":            {lossy, func(r *artifacts.Record) { r.Server.Done = nil }},
		"messages":           {lossy, func(r *artifacts.Record) { r.Client.Result.Messages++ }},
		"lost verified":      {lossy, func(r *artifacts.Record) { r.Client.Result.Lost = 1 }},
		"bytes":              {lossy, func(r *artifacts.Record) { r.Client.Result.Bytes -= int64(r.Profile.PayloadBytes) }},
		"server-connections": {lossy, func(r *artifacts.Record) { r.Server.Done.Connections = 2 }},
		"server-messages":    {lossy, func(r *artifacts.Record) { r.Server.Done.Messages++ }},
		"little-law": {lossy, func(r *artifacts.Record) {
			r.Client.Result.PerConn[0].RTTSumNS += r.Client.Result.PerConn[0].RTTSumNS / 50
		}},
		"burst-time":                   {lossy, func(r *artifacts.Record) { r.Client.Result.ElapsedNS++ }},
		"outside-clock":                {lossy, func(r *artifacts.Record) { r.OutsideBurstNS += int64(200 * time.Millisecond) }},
		"wire-bytes":                   {lossy, func(r *artifacts.Record) { r.Counters.BytesLo = 1000 }},
		"link-readback":                {lossy, func(r *artifacts.Record) { r.Link.LossPPM = 0 }},
		"loss-band":                    {lossy, func(r *artifacts.Record) { r.Counters.Directions = nil }},
		"loss-aggregate loss-band":     {lossy, func(r *artifacts.Record) { r.Counters.Directions[0].Dropped = r.Counters.Directions[0].Seen / 10 }},
		"rss-floor":                    {sparse, func(r *artifacts.Record) { r.Server.Exit.MaxRSSKiB = 400 }},
		"rss-samples":                  {sparse, func(r *artifacts.Record) { r.Series[0].N, r.Client.Result.Sparse.N = 1e6, 1e6 }},
		"quantile-order series-driver": {sparse, func(r *artifacts.Record) { r.Client.Result.Sparse.P50NS *= 2 }},
		"series-order":                 {sparse, func(r *artifacts.Record) { r.Series[0].MeanNS *= 2 }},
		"series-driver":                {sparse, func(r *artifacts.Record) { r.Client.Result.Sparse.N++ }},
		"column-void":                  {sparse, func(r *artifacts.Record) { r.Outcome = artifacts.OutcomeFailed }},
	} {
		t.Run(want, func(t *testing.T) {
			art := built(t, spec)
			i := c.at
			if i < 0 {
				i += len(art.Records)
			}
			c.change(&art.Records[i])
			if got := rules(art, LevelFail); got != want {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestWindowCeiling(t *testing.T) {
	only := matrix.Selection{Only: []string{"delay=5,variant=tcp"}}
	spec := summarytest.Spec{Matrix: "published", Selection: only, Rate: func(matrix.Run) float64 { return 4.0 }}
	if got := rules(built(t, spec), LevelFail); got != "" { // 3,000 messages in half a second: 4.58 MiB/s
		t.Errorf("below the ceiling: %q", got)
	}
	spec.Rate = func(matrix.Run) float64 { return 4.6 }
	if got := rules(built(t, spec), LevelFail); got != "window-ceiling" {
		t.Errorf("above the ceiling: %q", got)
	}
	if got := windowCeiling(1, 64, 800, 5e6); got/(1<<20) < 4.88 || got/(1<<20) > 4.89 {
		t.Errorf("64 x 800 B in 10 ms are %v B/s", got)
	}
}

func TestDisturbedRunsAreOnlyNoted(t *testing.T) {
	art := built(t, summarytest.Spec{Selection: summarytest.Small("suite=single,loss=1")})
	art.Records[0].OutsideBurstNS += int64(time.Second)
	art.Records[0].Flags = []string{"stolen-time"}
	if fail, note := rules(art, LevelFail), rules(art, LevelNote); fail != "" || note != "outside-clock" {
		t.Errorf("failures %q, notes %q", fail, note)
	}
}

func TestDatagramsAreBoundByRawUDP(t *testing.T) {
	spec := summarytest.Spec{Selection: summarytest.Small("suite=single,loss=0,variant=udp|kcp-go")}
	spec.Rate = func(r matrix.Run) float64 { return map[string]float64{"udp": 1, "kcp-go": 1.2}[r.Variant.Name] }
	art := built(t, spec)
	if got := rules(art, LevelFail); got != "udp-bound" {
		t.Errorf("20 %% above raw UDP: %q", got)
	}
	art.Records[0].Flags = []string{"cpu-pressure"}
	if fail, note := rules(art, LevelFail), rules(art, LevelNote); fail != "" || note != "udp-bound" {
		t.Errorf("disturbed: failures %q, notes %q", fail, note)
	}
}
