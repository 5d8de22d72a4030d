package matrix

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// impaired puts further impairments on the second profile of the valid file; text is one or more lines of YAML.
func impaired(text string) string {
	return strings.Replace(small, "    window: 8\n", "    window: 8\n    "+strings.ReplaceAll(text, "\n", "\n    ")+"\n", 1)
}

const everyImpairment = `one_way_delay: 5ms
jitter: 1500us
duplicate_percent: 0.5
rate_kbit_per_s: 20000
rate_steps: [{after: 2s, rate_kbit_per_s: 5000}, {after: 4s, rate_kbit_per_s: 20000}]`

func TestImpairmentsAreRead(t *testing.T) {
	cases := []struct {
		text, id string
		want     Impairment
	}{
		{
			everyImpairment, "single-64B-1c-l0-d5-j1.5-u0.5-r20000-s2000x5000-s4000x20000",
			Impairment{
				JitterNS: 1500 * time.Microsecond, DuplicatePPM: 5000, RateBitPerS: 20_000_000,
				Steps: RateSteps{{2 * time.Second, 5_000_000}, {4 * time.Second, 20_000_000}},
			},
		},
		{
			"burst_loss: {good_to_bad_percent: 1, bad_to_good_percent: 25, bad_loss_percent: 100}\nreorder_percent: 2\none_way_delay: 1ms",
			"single-64B-1c-l0-d1-b1x25x100x0-o2",
			Impairment{Burst: BurstLoss{10_000, 250_000, 1_000_000, 0}, ReorderPPM: 20_000},
		},
	}
	for _, c := range cases {
		m, err := Parse("mine.yaml", []byte(impaired(c.text)))
		if err != nil {
			t.Fatal(err)
		}
		p := m.Profiles[1]
		if p.ID != c.id || p.Link.Clean() || m.Profiles[0].Link.More != (Impairment{}) {
			t.Errorf("id %s, want %s; %+v", p.ID, c.id, p.Link)
		}
		if diff := cmp.Diff(c.want, p.Link.More); diff != "" {
			t.Error(diff)
		}
		text, err := json.Marshal(p.Link)
		var back LinkSpec
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != p.Link {
			t.Errorf("%s became %+v, %v", text, back, err)
		}
	}
}

func TestImpairmentsDecideThePlan(t *testing.T) {
	plain, more := planOf(t, small), planOf(t, impaired("jitter: 1ms\none_way_delay: 5ms"))
	other := planOf(t, impaired("jitter: 2ms\none_way_delay: 5ms"))
	if plain.Hash == more.Hash || more.Hash == other.Hash {
		t.Error("jitter is not part of the plan's hash")
	}
	var without, with bytes.Buffer
	if err := plain.WriteTSV(&without); err != nil {
		t.Fatal(err)
	}
	if err := more.WriteTSV(&with); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(without.String()), "\n") {
		if n := strings.Count(line, "\t"); n != 19 {
			t.Errorf("plan without impairments has %d columns: %s", n+1, line)
		}
	}
	lines := strings.Split(strings.TrimSpace(with.String()), "\n")
	if !strings.HasSuffix(lines[0], "\t-") || !strings.HasSuffix(lines[len(lines)-1], "\tj1") {
		t.Errorf("plan with impairments does not print them:\n%s", with.String())
	}
}

func planOf(t *testing.T, text string) *Plan {
	t.Helper()
	m, err := Parse("mine.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(m, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wrongImpairments are impossible or contradictory; the second profile begins in line 12 and its impairments in line 17.
func wrongImpairments() []struct{ text, want string } {
	const burst = "burst_loss: {good_to_bad_percent: 1, bad_to_good_percent: 25, bad_loss_percent: 90}\n"
	return []struct{ text, want string }{
		{"jitter: 1ms", "mine.yaml:17: profiles[1].jitter: is 1ms, more than the one_way_delay of 0s"},
		{"jitter: -1ms", "mine.yaml:17: profiles[1].jitter: is -1ms, want 0s or more"},
		{"jitter: 1", "mine.yaml:17: want a duration with its unit"},
		{"reorder_percent: 5", "mine.yaml:17: profiles[1].reorder_percent: needs a one_way_delay"},
		{"reorder_percent: 100\none_way_delay: 1ms", "mine.yaml:17: profiles[1].reorder_percent: is 100, want 0 to less than 100"},
		{"reorder_percent: 5\none_way_delay: 1ms\nrate_kbit_per_s: 100", "mine.yaml:17: profiles[1].reorder_percent: contradicts rate_kbit_per_s"},
		{"duplicate_percent: 100", "mine.yaml:17: profiles[1].duplicate_percent: is 100"},
		{"duplicate_percent: 101", "mine.yaml:17: want 0 to 100"},
		{"rate_kbit_per_s: 7", "mine.yaml:17: profiles[1].rate_kbit_per_s: is 7, want 8 to 100000000"},
		{"rate_kbit_per_s: 0", "mine.yaml:17: profiles[1].rate_kbit_per_s: is 0, want 8"},
		{"rate_kbit_per_s: 9223372036854775807", "mine.yaml:17: profiles[1].rate_kbit_per_s: is 9223372036854775807"},
		{"rate_mbit_per_s: 7", `mine.yaml:17: unknown field "rate_mbit_per_s"`},
		{"rate_steps: [{after: 1s, rate_kbit_per_s: 100}]", "mine.yaml:17: profiles[1].rate_steps: needs rate_kbit_per_s"},
		{"rate_kbit_per_s: 100\nrate_steps: [{after: 1s, rate_kbit_per_s: 100}]", "mine.yaml:18: profiles[1].rate_steps[0].rate_kbit_per_s: is the rate before it"},
		{"rate_kbit_per_s: 100\nrate_steps: [{after: 1s, rate_kbit_per_s: 9}, {after: 1s, rate_kbit_per_s: 10}]", "mine.yaml:18: profiles[1].rate_steps[1].after: is 1s, want more than 1s"},
		{"rate_kbit_per_s: 100\nrate_steps: [{rate_kbit_per_s: 9}]", "mine.yaml:18: profiles[1].rate_steps[0].after: is 0s"},
		{"rate_kbit_per_s: 100\nrate_steps: [{after: 1s, rate_kbit_per_s: 9, burst: 1}]", `mine.yaml:18: unknown field "burst"`},
		{"rate_kbit_per_s: 100\nrate_steps: [{},{},{},{},{}]", "mine.yaml:18: profiles[1].rate_steps: has 5 entries, want at most 4"},
		{"burst_loss: {}", "mine.yaml:17: profiles[1].burst_loss: says nothing"},
		{"burst_loss: {good_to_bad_percent: 1, bad_loss_percent: 100}", "mine.yaml:17: profiles[1].burst_loss.bad_to_good_percent: is 0, want 0.0001 to 100"},
		{"burst_loss: {good_to_bad_percent: 1, bad_to_good_percent: 1, bad_loss_percent: 1, good_loss_percent: 1}", "bad_loss_percent: must be above good_loss_percent"},
		{"burst_loss: {good_to_bad_percent: 60, bad_to_good_percent: 60, bad_loss_percent: 1}", "mine.yaml:17: profiles[1].burst_loss: changes its state more often than not"},
		{burst + "loss_percent: 1", "mine.yaml:17: profiles[1].burst_loss: contradicts loss_percent"},
		{burst + "duplicate_percent: 1", "mine.yaml:17: profiles[1].burst_loss: contradicts duplicate_percent"},
	}
}

func TestWrongImpairmentsNameFileAndLine(t *testing.T) {
	for _, c := range wrongImpairments() {
		_, err := Parse("mine.yaml", []byte(impaired(c.text)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestUnreliableColumnsAreNotMeasuredOutOfOrder(t *testing.T) {
	for text, want := range map[string]string{
		"burst_loss: {good_to_bad_percent: 1, bad_to_good_percent: 25, bad_loss_percent: 90}": "injected loss",
		"jitter: 1ms\none_way_delay: 1ms":        "jitter, reordering",
		"reorder_percent: 1\none_way_delay: 1ms": "jitter, reordering",
		"duplicate_percent: 1":                   "duplicates",
		"rate_kbit_per_s: 100":                   "",
	} {
		p := planOf(t, impaired(text))
		r := p.Runs[len(p.Runs)-1]
		r.Variant.Unreliable = true
		if got := r.Unsupported(); got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestImpossibleLinksAreNamed(t *testing.T) {
	p := planOf(t, impaired(everyImpairment))
	r := p.Runs[len(p.Runs)-1]
	r.Profile.Link.Backend = BackendNone
	const want = "no link backend here can do 0 % loss with 5ms one-way delay and jitter and duplicate_percent and rate_kbit_per_s and rate_steps"
	if got := r.Unsupported(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBurstMean(t *testing.T) {
	b := BurstLoss{GoodToBadPPM: 10_000, BadToGoodPPM: 240_000, BadLossPPM: 1_000_000}
	if math.Abs(b.InBad()-0.04) > 1e-12 || math.Abs(b.Mean()-0.04) > 1e-12 {
		t.Errorf("in bad %g, mean %g; want 0.04 both", b.InBad(), b.Mean())
	}
	b.BadLossPPM, b.GoodLossPPM = 500_000, 10_000
	if want := 0.04*0.5 + 0.96*0.01; math.Abs(b.Mean()-want) > 1e-12 {
		t.Errorf("mean %g, want %g", b.Mean(), want)
	}
}

func FuzzRateSteps(f *testing.F) {
	f.Add([]byte(`[{"after_ns":1,"rate_bit_per_s":8000}]`))
	f.Add([]byte(`[{},{},{},{},{}]`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s, again RateSteps
		if s.UnmarshalJSON(text) != nil {
			return
		}
		out, err := s.MarshalJSON()
		if err == nil {
			err = again.UnmarshalJSON(out)
		}
		if err != nil || len(again.Used()) != len(s.Used()) {
			t.Errorf("%s became %s: %v", text, out, err)
		}
	})
}
