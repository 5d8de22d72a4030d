package summary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// ratioArtifact plans every profile, column and repetition; speed gives the burst time in ns, and edit may damage a run.
func ratioArtifact(t *testing.T, columns []string, profiles, repetitions int, speed func(profile, column, repetition int) int64, edit func(*artifacts.Record)) (*artifacts.Artifact, *Summary) {
	art := &artifacts.Artifact{Manifest: artifacts.Manifest{ID: "test", PlanHash: "p", Columns: columns, Matrix: artifacts.MatrixRef{Name: "quick"},
		Options: []string{"--matrix=quick", "--only=suite=single", "--scale=0.05", "--repetitions=9"}}}
	var ids []string
	for p := range profiles {
		for rep := 1; rep <= repetitions; rep++ {
			for c, name := range columns {
				r := record(fmt.Sprintf("single-%dB-1c-l0-d0/%s/r%d", 100+p, name, rep), artifacts.OutcomeOK, speed(p, c, rep))
				r.Index, r.Block, r.Repetition = len(ids), p*repetitions+rep, rep
				r.Variant = matrix.Variant{Name: name, Driver: strings.TrimSuffix(name, "-batch"), API: "send"}
				if strings.HasSuffix(name, "-batch") {
					r.Variant.API = "batch"
				}
				r.Link = &link.State{Backend: link.BackendNFT}
				if edit != nil {
					edit(&r)
				}
				art.Plan = append(art.Plan, artifacts.PlanRow{Index: r.Index, RunID: r.RunID})
				ids, art.Records = append(ids, r.RunID), append(art.Records, r)
			}
		}
	}
	s, err := Build(columns, ids, art.Records)
	if err != nil {
		t.Fatal(err)
	}
	return art, s
}

func ratiosOf(t *testing.T, art *artifacts.Artifact, s *Summary, metric string) []RatioProfile {
	t.Helper()
	ps, err := Ratios(art, s, metric)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// noisy draws burst times with an effect per column and noise.
func noisy(seed uint64, effect, noise float64) func(p, c, rep int) int64 {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(_, c, _ int) int64 { return int64(1e9 * math.Exp(-effect*float64(c)+noise*r.NormFloat64())) }
}

// TestVerdictsNeverContradictTheirIntervals over random artifacts, in both directions.
func TestVerdictsNeverContradictTheirIntervals(t *testing.T) {
	seen := map[string]int{}
	columns := []string{"tcp", "tcp-batch", "kcp-c", "udp", "quic-go"}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		drop := r.IntN(2) == 0
		art, s := ratioArtifact(t, columns, 1+r.IntN(3), 1+r.IntN(7), noisy(seed, []float64{0, 0.1, 0.5}[r.IntN(3)], []float64{0.005, 0.05, 0.3}[r.IntN(3)]), func(rec *artifacts.Record) {
			if drop && r.IntN(8) == 0 {
				rec.Outcome, rec.Reason = artifacts.OutcomeUnsupported, "test"
			}
		})
		for _, p := range ratiosOf(t, art, s, Throughput) {
			for _, x := range p.Ratios {
				seen[x.Verdict]++
				checkVerdict(t, p, x)
			}
		}
	}
	for _, v := range []string{"faster", "slower", VerdictSame, VerdictEqual, VerdictUnconfirmed, VerdictNone} {
		if seen[v] < 10 {
			t.Errorf("verdict %q came %d times: the draw does not try it (%v)", v, seen[v], seen)
		}
	}
}

func checkVerdict(t *testing.T, p RatioProfile, x Ratio) {
	t.Helper()
	excludes := x.Lo > 1 || x.Hi < 1
	all := x.AllLo > 1 || x.AllHi < 1
	bad := false
	switch x.Verdict {
	case "faster":
		bad = !(x.Lo > 1 && x.AllLo > 1) || x.Adjusted >= 0.05 || p.Adjusted >= 0.05 || !x.Claim
	case "slower":
		bad = !(x.Hi < 1 && x.AllHi < 1) || x.Adjusted >= 0.05 || p.Adjusted >= 0.05 || !x.Claim
	case VerdictUnconfirmed:
		bad = !excludes || x.P >= 0.05 || x.Adjusted < 0.05
	case VerdictSame:
		bad = excludes || all || x.P < 0.05 || x.Claim
	case VerdictEqual:
		bad = x.Claim || !x.Equal || x.Effect > 1+x.Margin || x.Effect < 1/(1+x.Margin)
	case VerdictNone:
		bad = x.N >= 2 || !math.IsNaN(x.Lo)
	default:
		bad = true
	}
	if bad {
		t.Fatalf("%s beside %+v in %+v", x.Verdict, x, p)
	}
}

func find(t *testing.T, p RatioProfile, num, den string) Ratio {
	t.Helper()
	i := slices.IndexFunc(p.Ratios, func(r Ratio) bool { return r.Num == num && r.Den == den })
	if i < 0 {
		t.Fatalf("no ratio %s / %s", num, den)
	}
	return p.Ratios[i]
}

func TestRatioByHand(t *testing.T) {
	columns := []string{"tcp", "tcp-batch", "udp", "kcp-c"}
	art, s := ratioArtifact(t, columns, 1, 3, func(_, c, rep int) int64 { return int64(8e9) >> c * int64(rep) }, nil)
	p := ratiosOf(t, art, s, Throughput)[0]
	for _, c := range []struct {
		num, den, role string
		want           float64
	}{{"tcp-batch", "tcp", RolePrimary, 2}, {"tcp", "kcp-c", RolePrimary, 1.0 / 8}, {"udp", "kcp-c", RolePrimary, 0.5}, {"tcp-batch", "udp", RolePrimary, 0.5}} {
		r := find(t, p, c.num, c.den)
		if math.Abs(r.Effect-c.want) > 1e-12 || r.Role != c.role || r.N != 3 || math.Abs(r.Least-c.want) > 1e-12 {
			t.Errorf("%s / %s: %+v, want %v %s", c.num, c.den, r, c.want, c.role)
		}
	}
	if _, err := Ratios(art, s, LostShare); err == nil {
		t.Error("a share that may be zero has ratios")
	}
	var b bytes.Buffer
	if err := WriteRatios(&b, []RatioProfile{p}); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("JSON: %v\n%s", err, b.String())
	}
}

func TestRatioLeavesOutAndSays(t *testing.T) {
	columns := []string{"a", "b", "c"}
	art, s := ratioArtifact(t, columns, 1, 3, noisy(1, 0.2, 0.01), func(r *artifacts.Record) {
		switch {
		case r.RunID == "single-100B-1c-l0-d0/b/r2":
			r.Outcome, r.Reason = artifacts.OutcomeUnsupported, "test"
		case r.Variant.Name == "c":
			r.Link.Backend = link.BackendNetem
		}
	})
	p := ratiosOf(t, art, s, Throughput)[0]
	if r := find(t, p, "b", "a"); r.N != 2 || !slices.Contains(p.Notes, "b r2 is out: unsupported") {
		t.Errorf("a missing run: %+v, notes %q", r, p.Notes)
	}
	if r := find(t, p, "c", "a"); r.Verdict != VerdictRefused || !math.IsNaN(r.Effect) || r.Claim {
		t.Errorf("other link backend: %+v", r)
	}
	art, s = ratioArtifact(t, columns, 1, 3, noisy(1, 0.2, 0.01), func(r *artifacts.Record) {
		if r.RunID == "single-100B-1c-l0-d0/b/r2" {
			r.Outcome, r.Reason = artifacts.OutcomeFailed, "test"
		}
	})
	p = ratiosOf(t, art, s, Throughput)[0]
	if r := find(t, p, "b", "a"); r.N != 0 || r.Verdict != VerdictNone || !strings.Contains(strings.Join(p.Notes, "\n"), "column b is void: 1 of 3") {
		t.Errorf("a void column: %+v, notes %q", r, p.Notes)
	}
}

func TestRatioOfMemoryKnowsItsStep(t *testing.T) {
	art, s := ratioArtifact(t, []string{"a", "b"}, 1, 3, noisy(1, 0, 0.01), func(r *artifacts.Record) {
		if r.Variant.Name == "b" {
			r.Client.Exit = &wire.Exit{MaxRSSKiB: 3584 + 64}
		}
	})
	art.Manifest.RSS = map[string]artifacts.RSS{wire.SuiteSingle: {StepKiB: 4, FormulaKiB: 128}}
	if r := find(t, ratiosOf(t, art, s, ClientRSS)[0], "b", "a"); r.Verdict != VerdictSame || !slices.Contains(r.Flags, "under one step of the counter") {
		t.Errorf("half a step apart: %+v", r)
	}
}

func TestBimodalCellHasNoMeanRatio(t *testing.T) {
	art, s := ratioArtifact(t, []string{"a", "b"}, 1, 6, noisy(1, 0.2, 0.01), func(r *artifacts.Record) {
		r.Series = []artifacts.Series{{Kind: "sparse", N: 300, Dip: 0.01}}
		if r.Variant.Name == "b" {
			r.Series[0].Dip = 0.12
		}
	})
	r := find(t, ratiosOf(t, art, s, SparseP50)[0], "b", "a")
	if !r.Bimodal || r.Verdict != VerdictNone || r.Claim || !math.IsNaN(r.AllLo) || math.IsNaN(r.Lo) || r.Lo != r.Least || r.Hi != r.Greatest {
		t.Errorf("two modes: %+v", r)
	}
	if r := find(t, ratiosOf(t, art, s, Throughput)[0], "b", "a"); r.Bimodal {
		t.Errorf("throughput has no series within a run: %+v", r)
	}
}

func TestSameColumnTwiceGivesAFloor(t *testing.T) {
	art, s := ratioArtifact(t, []string{"a", "a2", "b"}, 3, 3, noisy(3, 0, 0.05), func(r *artifacts.Record) {
		r.Variant.Driver = strings.TrimSuffix(r.Variant.Driver, "2")
	})
	for _, p := range ratiosOf(t, art, s, Throughput) {
		if find(t, p, "a2", "a").Role != RoleSame || !strings.HasPrefix(p.Notes[len(p.Notes)-1], "A/A: ") {
			t.Errorf("%+v", p)
		}
	}
}
