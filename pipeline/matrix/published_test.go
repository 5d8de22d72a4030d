package matrix

import (
	"cmp"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// publishedCell is one of the 203 published table cells, from testdata.
type publishedCell struct {
	suite, variant                 string
	payload, messages, connections int
	lossPPM, delayNS, repeats      int
	throughput                     float64 // MiB/s, median; 0 where the table has none
}

func publishedCells(t *testing.T) []publishedCell {
	t.Helper()
	data, err := os.ReadFile("testdata/published-cells.tsv")
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("published-cells.tsv: %v", err)
		}
		return v
	}
	var cells []publishedCell
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t")
		suite, _, _ := strings.Cut(f[0], "-")
		cells = append(cells, publishedCell{
			suite: suite, variant: f[1], payload: int(number(f[2])), messages: int(number(f[3])), connections: int(number(f[4])),
			lossPPM: int(math.Round(number(f[5]) * 1e6)), delayNS: int(number(f[6]) * 1e6 / 2), repeats: int(number(f[7])), throughput: number(f[8]),
		})
	}
	return cells
}

// asPublished describes a planned cell in the terms of the published tables, where sparse profiles count samples.
func asPublished(p Profile, v Variant) publishedCell {
	c := publishedCell{
		suite: p.Suite, variant: v.Name, payload: p.PayloadBytes, messages: p.Messages * p.Connections, connections: p.Connections,
		lossPPM: p.Link.LossPPM, delayNS: int(p.Link.DelayNS), repeats: p.Repetitions,
	}
	if p.Suite == "sparse" {
		c.messages = p.Samples
	}
	return c
}

func mustBuiltin(t testing.TB, name string) *Matrix {
	t.Helper()
	m, err := Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPublishedMatrixHasThePublishedCells(t *testing.T) {
	m := mustBuiltin(t, "published")
	want := map[publishedCell]bool{}
	runs := map[string]int{}
	for _, c := range publishedCells(t) {
		c.throughput = 0
		want[c] = true
		runs[c.suite] += c.repeats
	}
	if len(want) != 203 {
		t.Fatalf("%d different published cells, want 203", len(want))
	}
	for _, p := range m.Profiles {
		for _, v := range m.columns() {
			c := asPublished(p, v)
			if !want[c] {
				t.Errorf("planned cell %+v was not published", c)
			}
			delete(want, c)
			runs[c.suite] -= p.Repetitions
		}
	}
	for c := range want {
		t.Errorf("published cell %+v is not planned", c)
	}
	for suite, n := range runs {
		if n != 0 {
			t.Errorf("%s: %d more runs published than planned", suite, n)
		}
	}
}

func TestPublishedColumnsAndProfilesStandInTableOrder(t *testing.T) {
	m := mustBuiltin(t, "published")
	var columns, profiles, planned []string
	for _, c := range publishedCells(t) {
		id := Profile{Suite: c.suite, PayloadBytes: c.payload, Connections: c.connections}
		id.Link = LinkSpec{LossPPM: c.lossPPM, DelayNS: time.Duration(c.delayNS)}
		if !slices.Contains(columns, c.variant) {
			columns = append(columns, c.variant)
		}
		if name := id.makeID(); !slices.Contains(profiles, name) {
			profiles = append(profiles, name)
		}
	}
	for _, p := range m.Profiles {
		planned = append(planned, p.ID)
	}
	if !slices.Equal(planned, profiles) {
		t.Errorf("profiles\n%v\nwant\n%v", planned, profiles)
	}
	var names []string
	for _, v := range m.columns() {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, columns) {
		t.Errorf("columns %v, want %v", names, columns)
	}
}

// TestLongCountsFollowTheirRule recomputes published-long.yaml from the published throughputs by the formula in its header.
func TestLongCountsFollowTheirRule(t *testing.T) {
	published, long := mustBuiltin(t, "published"), mustBuiltin(t, "published-long")
	cells := publishedCells(t)
	for i, p := range long.Profiles {
		was := published.Profiles[i]
		if p.Suite == "sparse" {
			continue
		}
		slowest, fastest := udpRange(cells, p)
		need := max(5*slowest, fastest) * (1 << 20) / float64(p.PayloadBytes) / float64(p.Connections)
		step := map[string]float64{"single": 1000}[p.Suite]
		step = cmp.Or(step, 16)
		want := max(was.Messages, int(math.Ceil(need/step-1e-9)*step))
		if p.Messages != want {
			t.Errorf("%s: %d messages, the rule gives %d", p.ID, p.Messages, want)
		}
		p.Messages, p.Rationale, was.Rationale = was.Messages, "", ""
		if p != was {
			t.Errorf("%s differs from the published profile in more than its count:\n%+v\n%+v", p.ID, p, was)
		}
	}
}

// udpRange returns the lowest and highest published throughput of the UDP columns for the network and size of p.
func udpRange(cells []publishedCell, p Profile) (slowest, fastest float64) {
	slowest = math.Inf(1)
	for _, c := range cells {
		same := c.payload == p.PayloadBytes && c.connections == p.Connections && c.lossPPM == p.Link.LossPPM && c.delayNS == int(p.Link.DelayNS)
		if same && c.throughput > 0 && c.variant != "tcp" {
			slowest, fastest = min(slowest, c.throughput), max(fastest, c.throughput)
		}
	}
	return slowest, fastest
}
