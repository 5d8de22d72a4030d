package matrix

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

func mustPlan(t testing.TB, m *Matrix, sel Selection) *Plan {
	t.Helper()
	p, err := NewPlan(m, sel)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at the change and run go test -update when it is meant", file)
	}
}

func TestPublishedPlan(t *testing.T) {
	p := mustPlan(t, mustBuiltin(t, "published"), Selection{})
	var tsv bytes.Buffer
	if err := p.WriteTSV(&tsv); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(tsv.Bytes(), []byte("\n")); n != 623 || p.Kind != KindPublished {
		t.Errorf("%d lines of kind %s, want 623 of kind published", n, p.Kind)
	}
	golden(t, "testdata/published-plan.tsv", tsv.Bytes())
	golden(t, "testdata/published-plan.hash", []byte(p.Hash+"\n"))
}

func TestJSONLHasOneObjectARun(t *testing.T) {
	p := mustPlan(t, mustBuiltin(t, "quick"), Selection{})
	var out bytes.Buffer
	if err := p.WriteJSONL(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/quick-plan.jsonl", out.Bytes())
}

// checkPlan holds for every plan: unique ids, consecutive indexes, each column of a profile exactly once a block, all its columns rotated by one from
// one repetition to the next.
func checkPlan(t *testing.T, p *Plan) {
	t.Helper()
	ids := map[string]bool{}
	blocks := map[int][]string{}
	heads := map[int]Run{}
	for i, r := range p.Runs {
		if ids[r.ID] {
			t.Fatalf("run id %s appears twice", r.ID)
		}
		ids[r.ID] = true
		if r.Index != i || r.ID != fmt.Sprintf("%s/%s/r%d", r.Profile.ID, r.Variant.Name, r.Repetition) || strings.Count(r.ID, "/") != 2 {
			t.Fatalf("run %d is %q with index %d", i, r.ID, r.Index)
		}
		if len(blocks[r.Block]) == 0 {
			heads[r.Block] = r
		}
		h := heads[r.Block]
		if h.Profile.ID != r.Profile.ID || h.Repetition != r.Repetition || h.Seed != r.Seed || i > 0 && r.Block < p.Runs[i-1].Block {
			t.Fatalf("run %s is in the block of %s", r.ID, h.ID)
		}
		blocks[r.Block] = append(blocks[r.Block], r.Variant.Name)
	}
	for b, h := range heads {
		next, ok := heads[b+1]
		if !ok || next.Profile.ID != h.Profile.ID {
			continue
		}
		if want := append(blocks[b][1:len(blocks[b]):len(blocks[b])], blocks[b][0]); fmt.Sprint(want) != fmt.Sprint(blocks[b+1]) {
			t.Fatalf("block %d runs %v, want %v after %v", b+1, blocks[b+1], want, blocks[b])
		}
	}
}

func TestRotationIsBalanced(t *testing.T) {
	p := mustPlan(t, mustBuiltin(t, "published"), Selection{})
	checkPlan(t, p)
	at := map[string]map[int]int{}
	first := 0
	for i, r := range p.Runs {
		if i > 0 && r.Block != p.Runs[i-1].Block {
			first = i
		}
		if at[r.Variant.Name] == nil {
			at[r.Variant.Name] = map[int]int{}
		}
		at[r.Variant.Name][i-first]++
	}
	for name, positions := range at {
		for pos := range 7 {
			if n := positions[pos]; n < 11 || n > 15 { // 89 blocks over 7 places: 12.7 each
				t.Errorf("%s stands %d times at place %d", name, n, pos)
			}
		}
	}
}

func TestAnySelectionGivesASoundPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	only := []string{"suite=single|sparse", "loss=1", "variant=tcp|udp,suite=loaded", "payload=64,connections=64", "delay=5", "variant=raknet-batch"}
	m := mustBuiltin(t, "published")
	for range 40 {
		var sel Selection
		for _, o := range only {
			if rng.IntN(4) == 0 {
				sel.Only = append(sel.Only, o)
			}
		}
		sel.Repetitions, sel.Scale = rng.IntN(5), []float64{0, 1, 0.01, 0.3, 2}[rng.IntN(5)]
		if rng.IntN(3) == 0 {
			sel.Extras = []string{"all"}
		}
		if rng.IntN(3) == 0 {
			sel.Drivers = []string{"mine", "kcp-go"}
		}
		p := mustPlan(t, m, sel)
		checkPlan(t, p)
		if again := mustPlan(t, m, sel); again.Hash != p.Hash {
			t.Fatalf("%+v: two plans, two hashes", sel)
		}
	}
}

func TestCapsNeverPlanACellTwice(t *testing.T) {
	for _, n := range []int{1, 32, 64, 100, 1024, 2048, 5000} {
		p := mustPlan(t, mustBuiltin(t, "published"), Selection{MaxConnections: n})
		checkPlan(t, p)
		for _, r := range p.Runs {
			if r.Profile.Connections > n || p.Kind != KindSmoke {
				t.Fatalf("cap %d: %s of kind %s", n, r.ID, p.Kind)
			}
		}
	}
}

func TestHashSeesWhatDecides(t *testing.T) {
	base := mustPlan(t, mustBuiltin(t, "published"), Selection{}).Hash
	changes := map[string]func(*Matrix){
		"seed":     func(m *Matrix) { m.Seed += "x" },
		"count":    func(m *Matrix) { m.Profiles[3].Messages++ },
		"deadline": func(m *Matrix) { m.Deadlines.Ready++ },
		"buffer":   func(m *Matrix) { m.Variants[1].RcvBuf++ },
		"mtu":      func(m *Matrix) { m.Variants[1].MTU["single"]++ },
		"probe":    func(m *Matrix) { m.Probe = m.Probe[:1] },
		"order":    func(m *Matrix) { m.Variants[0], m.Variants[1] = m.Variants[1], m.Variants[0] },
	}
	for what, change := range changes {
		m := mustBuiltin(t, "published")
		change(m)
		if mustPlan(t, m, Selection{}).Hash == base {
			t.Errorf("%s does not change the hash", what)
		}
	}
	m := mustBuiltin(t, "published")
	m.Profiles[0].Rationale, m.Variants[0].Rationale, m.Kind = "other words", "too", KindCustom
	if mustPlan(t, m, Selection{}).Hash != base {
		t.Error("words and kind change the hash")
	}
}

func TestResolveBackends(t *testing.T) {
	p := mustPlan(t, mustBuiltin(t, "published"), Selection{})
	before := p.Hash
	asked := map[LinkSpec]int{}
	err := p.ResolveBackends(func(l LinkSpec) (string, error) {
		asked[l]++
		if l.DelayNS > 0 {
			return BackendNone, nil
		}
		return "nft", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 4 { // 0 %, 1 %, 5 %, 1 % with delay
		t.Errorf("asked for %d links, want 4", len(asked))
	}
	for l, n := range asked {
		if n != 1 || l.Backend != "auto" {
			t.Errorf("asked %d times for %+v", n, l)
		}
	}
	for _, r := range p.Runs {
		if none := r.Profile.Link.DelayNS > 0; (r.Unsupported() != "") != none || (r.Profile.Link.Backend == BackendNone) != none {
			t.Errorf("%s: backend %s, unsupported %q", r.ID, r.Profile.Link.Backend, r.Unsupported())
		}
	}
	if p.Hash == before || p.Probe[0].Profile.Link.Backend != "nft" {
		t.Error("the choice is not part of the plan")
	}
	broken := errors.New("broken")
	if err := p.ResolveBackends(func(LinkSpec) (string, error) { return "", broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkPublishedPlan(b *testing.B) {
	for b.Loop() {
		mustPlan(b, mustBuiltin(b, "published"), Selection{})
	}
}
