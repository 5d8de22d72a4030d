package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/analysis/replication"
	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// repeated is an invented measurement of full counts; Salt is another draw of its noise.
func repeated(salt string, noise float64, rate func(matrix.Run) float64) summarytest.Spec {
	return summarytest.Spec{Matrix: "published", Salt: salt, Noise: noise, Rate: rate,
		Selection: matrix.Selection{Only: []string{"suite=single,payload=800,loss=0,delay=0,variant=tcp|quic-go|udp"}, Extras: []string{"udp"}, Repetitions: 5}}
}

// apart puts the columns in an order that every draw shows; slow is a factor on tcp.
func apart(slow float64) func(matrix.Run) float64 {
	return func(r matrix.Run) float64 {
		return map[string]float64{"tcp": 1 / slow, "quic-go": 0.5, "udp": 1.6}[r.Variant.Name]
	}
}

// replicaOf invents a replication that asks what bench replicate would ask of the artifact in dir.
func replicaOf(t *testing.T, dir string, s summarytest.Spec) string {
	t.Helper()
	o, err := readOriginal(dir)
	must(t, err)
	l, err := o.ladder(nil)
	must(t, err)
	b, hash, err := l.Encode()
	must(t, err)
	s.Ladder, s.Replicates = b, &artifacts.Replicates{ID: o.id(), Kind: l.Original.Kind, SHA256: o.seal, Ladder: hash}
	return invented(t, s)
}

func TestReplicateVerdictsAndExitCodes(t *testing.T) {
	original := invented(t, repeated("a", 0.02, apart(1)))
	for name, c := range map[string]struct {
		spec summarytest.Spec
		code int
		says string
	}{
		"again":         {repeated("b", 0.02, apart(1)), ExitOK, "confirmed: identity identical; 2 orders (2 confirmed)"},
		"slower by 30%": {repeated("b", 0.02, apart(1.3)), ExitNo, "single-800B-1c-l0-d0 | tcp | throughput | 5 % | 0.7"},
		"noise":         {repeated("b", 0.9, apart(1)), ExitUndecided, "undecided: identity identical"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := replicaOf(t, original, c.spec)
			code, out, errs := bench("replicate", "--judge", dir)
			if code != c.code || !strings.Contains(out, c.says) {
				t.Errorf("exit %d, want %d and %q\n%s%s", code, c.code, c.says, out, errs)
			}
			if code, _, errs := bench("replicate", original, "--judge", dir); code != c.code || !strings.Contains(errs, "replication.json is what published-") {
				t.Errorf("with its original: exit %d %s", code, errs)
			}
			code, out, _ = bench("replicate", "--judge", dir, "--json")
			var v replication.Verdict
			if err := json.Unmarshal([]byte(out), &v); err != nil || code != c.code || v.Overall == "" || len(v.Magnitudes) != 9 {
				t.Errorf("json: exit %d, %v, %+v", code, err, v)
			}
			if code, _, errs := bench("analyze", "--quiet", dir); code != ExitOK {
				t.Errorf("analyze: %d %s", code, errs)
			}
			table, err := os.ReadFile(filepath.Join(dir, "tables", "replication.md"))
			if err != nil || !strings.Contains(string(table), "## 3. Magnitude") {
				t.Errorf("table %v: %s", err, table)
			}
			if code, out, _ := bench("verify", dir); code != ExitOK {
				t.Errorf("verify: %s", out)
			}
		})
	}
}

func TestReplicateAnotherQuestion(t *testing.T) {
	original := invented(t, repeated("a", 0.02, apart(1)))
	dir := replicaOf(t, original, repeated("b", 0.02, apart(1)))
	stranger := invented(t, repeated("c", 0.02, apart(1.01)))
	if code, _, errs := bench("replicate", stranger, "--judge", dir); code != ExitNo || !strings.Contains(errs, "its replication.json is not what") {
		t.Errorf("exit %d %s", code, errs)
	}
}

func TestReplicateDryRun(t *testing.T) {
	original := invented(t, repeated("a", 0.02, apart(1)))
	code, out, errs := bench("replicate", original, "--dry-run")
	if code != ExitOK || !strings.Contains(out, "2 orders, 9 magnitudes") || !strings.Contains(out, "\n15 runs, about 0.7 minutes for the 15 of them") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	const claim = "single-800B-1c-l0-d0/throughput/udp:tcp"
	code, out, errs = bench("replicate", original, "--dry-run", "--json", "--claim", claim)
	var doc struct {
		Runs, Repetitions int
		Orders            []replication.Order
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != ExitOK || len(doc.Orders) != 1 || doc.Runs != 2*doc.Repetitions || doc.Repetitions < 3 {
		t.Errorf("exit %d %v %+v %s", code, err, doc, errs)
	}
	code, out, _ = bench("replicate", "reference", "--dry-run", "--claim", "small-messages-batch", "--repetitions", "7")
	if code != ExitOK || !strings.Contains(out, "\n35 runs") {
		t.Errorf("exit %d %s", code, out)
	}
}

func TestReplicateRefusals(t *testing.T) {
	smoke := invented(t, summarytest.Spec{Matrix: "published", Selection: summarytest.Small("suite=single,variant=tcp,loss=0")})
	quick := invented(t, summarytest.Spec{})
	for want, args := range map[string][]string{
		"is a smoke run":                    {"replicate", smoke},
		"is a quick run":                    {"replicate", quick},
		"no such folder":                    {"replicate", "nowhere"},
		"want one artifact folder":          {"replicate"},
		"excludes --dry-run":                {"replicate", "--judge", smoke, "--dry-run"},
		"replicates nothing":                {"replicate", "--judge", smoke},
		"choose from small-messages-batch,": {"replicate", "reference", "--claim", "x", "--dry-run"},
	} {
		if code, _, errs := bench(args...); code != ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d %q, want %q", args, code, errs, want)
		}
	}
}
