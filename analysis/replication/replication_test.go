package replication

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/analysis/summary"
	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts"
	"transportbench/artifacts/reference"
	"transportbench/pipeline/matrix"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rates of the invented columns, far apart.
var rates = map[string]float64{"tcp": 1, "quic-go": 0.5, "udp": 1.6, "kcp-c": 0.7}

// four columns of two small profiles in n blocks, with full counts.
func four(n int) matrix.Selection {
	return matrix.Selection{Only: []string{"suite=single,payload=800|4096,loss=0,delay=0,variant=tcp|quic-go|udp|kcp-c"}, Extras: []string{"udp"}, Repetitions: n}
}

func spec(salt string, noise float64, change map[string]float64) summarytest.Spec {
	return summarytest.Spec{Matrix: "published", Selection: four(5), Noise: noise, Salt: salt, Rate: func(r matrix.Run) float64 {
		f := rates[r.Variant.Name]
		for _, key := range []string{r.Variant.Name, "all"} {
			if by, ok := change[key]; ok {
				f *= by
			}
		}
		return f
	}}
}

func build(t testing.TB, s summarytest.Spec) (*artifacts.Artifact, *summary.Summary) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a")
	must(t, summarytest.Build(dir, s))
	a, err := artifacts.Load(dir)
	must(t, err)
	var ids []string
	for _, row := range a.Plan {
		ids = append(ids, row.RunID)
	}
	sum, err := summary.Build(a.Manifest.Columns, ids, a.Records)
	must(t, err)
	return a, sum
}

func ladder(t testing.TB, claims ...string) *Ladder {
	t.Helper()
	a, s := build(t, spec("original", 0.02, nil))
	l, err := FromArtifact(a, s, "seal", "", claims)
	must(t, err)
	return l
}

func judge(t testing.TB, l *Ladder, s summarytest.Spec, change ...func(*artifacts.Artifact)) *Verdict {
	t.Helper()
	a, sum := build(t, s)
	for _, f := range change {
		f(a)
	}
	v, err := Judge(l, a, sum)
	must(t, err)
	return v
}

// rebuilt gives a driver another digest.
func rebuilt(driver string) func(*artifacts.Artifact) {
	return func(a *artifacts.Artifact) {
		d := a.Manifest.Drivers[driver]
		d.SHA256 = strings.Repeat("f", 64)
		a.Manifest.Drivers[driver] = d
	}
}

func TestVerdicts(t *testing.T) {
	l := ladder(t)
	elsewhere := spec("b", 0.02, map[string]float64{"tcp": 1 / 1.3})
	elsewhere.Host = "elsewhere"
	other := spec("b", 0.02, nil)
	other.Selection.Only = []string{"suite=single,payload=800|4096,loss=0,delay=0,variant=tcp|quic-go|udp"}
	for name, c := range map[string]struct {
		spec   summarytest.Spec
		change []func(*artifacts.Artifact)
		want   string
		says   []string
	}{
		"again":                  {spec("b", 0.02, nil), nil, Confirmed, []string{"identity identical; 10 orders (10 confirmed)"}},
		"slower machine":         {spec("b", 0.02, map[string]float64{"all": 0.5}), nil, Confirmed, nil},
		"one driver slower":      {spec("b", 0.02, map[string]float64{"tcp": 1 / 1.3}), []func(*artifacts.Artifact){rebuilt("tcp")}, Different, []string{"identity different"}},
		"the order turned round": {spec("b", 0.02, map[string]float64{"quic-go": 4}), []func(*artifacts.Artifact){rebuilt("quic-go")}, Different, []string{"different"}},
		"noise":                  {spec("b", 0.8, nil), nil, Undecided, nil},
		"slower, but elsewhere":  {elsewhere, []func(*artifacts.Artifact){rebuilt("tcp")}, Confirmed, []string{"shown)"}},
		"a column is missing":    {other, nil, Undecided, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, l, c.spec, c.change...)
			if v.Overall != c.want {
				t.Errorf("%s, want %s", v, c.want)
			}
			for _, want := range c.says {
				if !strings.Contains(v.String(), want) {
					t.Errorf("%q lacks %q", v, want)
				}
			}
		})
	}
}

// TestOnlyTheSlowColumnIsAccused: the others are held against the columns whose program is the same, so its fall does not lift them.
func TestOnlyTheSlowColumnIsAccused(t *testing.T) {
	v := judge(t, ladder(t), spec("b", 0.02, map[string]float64{"tcp": 1 / 1.3}), rebuilt("tcp"))
	accused := 0
	for _, m := range v.Magnitudes {
		if m.Verdict != Different {
			continue
		}
		accused++
		if m.Variant != "tcp" || m.Metric != summary.Throughput || m.Effect < 0.7 || m.Effect > 0.85 {
			t.Errorf("%s/%s %s: %v %s", m.Profile, m.Variant, m.Metric, m.Effect, m.Reason)
		}
	}
	if accused != 2 {
		t.Errorf("%d accusations, want one in each profile", accused)
	}
	for _, c := range v.Columns {
		if slow := c.Variant == "tcp"; slow != (c.Effect < 0.85) || c.Profiles != 2 {
			t.Errorf("column %s: %v over %d profiles", c.Variant, c.Effect, c.Profiles)
		}
	}
}

// TestFalseAlarms: an identical system is called different in at most about 5 % of replications.
func TestFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("unsupported in -short: invents 60 artifacts")
	}
	l, alarms, confirmed := ladder(t), 0, 0
	const draws = 60
	for i := range draws {
		switch judge(t, l, spec(strings.Repeat("x", i+1), 0.05, nil)).Overall {
		case Different:
			alarms++
		case Confirmed:
			confirmed++
		}
	}
	if alarms > 8 || confirmed < draws/2 { // P(more than 8 of 60 at 5 %) < 0.5 %
		t.Errorf("%d of %d alarms, %d confirmed", alarms, draws, confirmed)
	}
	t.Logf("%d of %d alarms, %d confirmed", alarms, draws, confirmed)
}

func TestClaimOfAnArtifact(t *testing.T) {
	const id = "single-800B-1c-l0-d0/throughput/tcp:quic-go"
	l := ladder(t, id)
	if len(l.Orders) != 1 || len(l.Cells) != 2 || l.Repetitions < leastRuns || l.Orders[0].Greater != "tcp" {
		t.Errorf("%+v", l)
	}
	a, s := build(t, spec("original", 0.02, nil))
	if _, err := FromArtifact(a, s, "seal", "", []string{"faster"}); err == nil || !strings.Contains(err.Error(), "it makes single-") {
		t.Errorf("an unknown claim: %v", err)
	}
}

func TestReferenceAsksWhatItSays(t *testing.T) {
	ref, err := reference.Published()
	must(t, err)
	all, err := FromReference(ref, nil)
	must(t, err)
	one, err := FromReference(ref, []string{"single-5pct-loss"})
	must(t, err)
	if len(one.Orders) == 0 || len(one.Orders) >= len(all.Orders) || len(one.Cells) != 4 || one.Repetitions < leastRuns || all.Repetitions != 0 {
		t.Errorf("%d of %d orders, %d cells, %d runs of each", len(one.Orders), len(all.Orders), len(one.Cells), one.Repetitions)
	}
	if _, err := FromReference(ref, []string{"x"}); err == nil || !strings.Contains(err.Error(), "choose from") {
		t.Errorf("an unknown claim: %v", err)
	}
	for _, c := range all.Cells {
		for _, v := range c.Metrics {
			if len(v.Runs) != runsKnown || v.Runs[0] > v.Runs[1] || v.Runs[1] > v.Runs[2] {
				t.Errorf("%s/%s %s: %v", c.Profile, c.Variant, v.Metric, v.Runs)
			}
		}
	}
}

func TestEncodeIsStable(t *testing.T) {
	l := ladder(t)
	b, hash, err := l.Encode()
	must(t, err)
	back, err := Decode(b)
	must(t, err)
	again, same, err := back.Encode()
	must(t, err)
	if hash != same || !bytes.Equal(b, again) {
		t.Error("a ladder does not survive being stored")
	}
	if _, other, _ := ladder(t).Encode(); other != hash {
		t.Error("the same original asks something else the second time")
	}
}

func TestReach(t *testing.T) {
	could, all := ladder(t).Reach()
	a, s := build(t, spec("original", 0.3, nil))
	noisy, err := FromArtifact(a, s, "seal", "", nil)
	must(t, err)
	few, same := noisy.Reach()
	if all != 24 || same != all || could != all || few != 16 { // 8 cells of three metrics; only memory does not scatter
		t.Errorf("%d of %d, with noise %d of %d", could, all, few, same)
	}
}

func FuzzDecode(f *testing.F) {
	l := &Ladder{Original: Original{ID: "x", Blocks: true}, Orders: []Order{{Profile: "p", Metric: "throughput", Greater: "a", Less: "b"}},
		Cells: []Cell{{Profile: "p", Variant: "a", Metrics: []Values{{Metric: "throughput", Runs: []summary.Number{1, 2}}}}}}
	b, _, err := l.Encode()
	must(f, err)
	f.Add(b)
	f.Add([]byte(`{"format":1,"original":{"id":"x"},"cells":[{"metrics":[{"runs":[null]}]}]}`))
	a, s := build(f, summarytest.Spec{})
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := Decode(b)
		if err != nil {
			return
		}
		if v, err := Judge(l, a, s); err == nil && v.Overall == "" {
			t.Error("no verdict")
		}
		l.Reach()
	})
}
