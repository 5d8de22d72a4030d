package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"transportbench/analysis/summary"
	"transportbench/artifacts/reference"
	"transportbench/pipeline/matrix"
)

// raknetReadme holds what follows between two marks; the first names the artifact that it was made of.
const raknetReadme = "../../transports/raknet/README.md"

var measuredMark = regexp.MustCompile(`(?s)<!-- measured: (\S+) -->\n(.*)<!-- measured -->\n`)

// TestRakNetTable makes the tables of RakNet's README again from the artifact that they name; -update-golden rewrites them.
func TestRakNetTable(t *testing.T) {
	b, err := os.ReadFile(raknetReadme)
	must(t, err)
	m := measuredMark.FindSubmatch(b)
	if m == nil {
		t.Fatal("the README has no marks around what was measured")
	}
	want := "No artifact with a complete run of its columns is committed yet.\n"
	if id := string(m[1]); id != "none" {
		want = raknetTables(t, id)
	}
	if *updateGolden {
		text := "<!-- measured: " + string(m[1]) + " -->\n" + want + "<!-- measured -->\n"
		must(t, os.WriteFile(raknetReadme, measuredMark.ReplaceAllLiteral(b, []byte(text)), 0o644))
		return
	}
	if string(m[2]) != want {
		t.Errorf("the tables are not those of %s; rerun with -update-golden: %s", m[1], firstDifference([]byte(want), m[2]))
	}
}

// raknetTables renders an artifact's tables.
func raknetTables(t *testing.T, id string) string {
	a, s, err := loadSummary(filepath.Join("../../artifacts", id))
	must(t, err)
	r := raknetRatios{s: s, all: map[string][]summary.RatioProfile{}}
	for _, metric := range []string{summary.Throughput, summary.SparseP50, summary.LoadedP99, "client_cpu_per_message", "server_cpu_per_message"} {
		r.all[metric], err = summary.Ratios(a, s, metric)
		must(t, err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "From [%s](../../artifacts/%s) (%s, placement %s); brackets are 95 %% intervals of that comparison alone.\n\n", id, id, a.Manifest.Kind, a.Manifest.Placement.Label)
	r.targets(&out)
	ref, err := reference.Published()
	must(t, err)
	r.leads(&out, ref)
	r.cost(&out)
	return out.String()
}

type raknetRatios struct {
	s   *summary.Summary
	all map[string][]summary.RatioProfile
}

// of is a ratio inside the blocks of one profile.
func (r raknetRatios) of(metric, profile, num, den string) string {
	x, ok := summary.FindRatio(r.all[metric], profile, num, den)
	switch {
	case !ok || x.N == 0:
		return "not measured"
	case math.IsNaN(x.Lo):
		return fmt.Sprintf("%.2f", x.Effect)
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f]", x.Effect, x.Lo, x.Hi)
}

// medians is a ratio over two cells that share no block, so it has no interval.
func (r raknetRatios) medians(metric string, num, den matrix.Cell) string {
	x, y := r.s.Rows[num][metric], r.s.Rows[den][metric]
	if x.N == 0 || y.N == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.2f of medians", x.Median/y.Median)
}

// targets lists what the library was built for.
func (r raknetRatios) targets(out *strings.Builder) {
	fmt.Fprint(out, "| profile | over | raknet-send | wanted | raknet-batch | wanted |\n|---|---|---|---|---|---|\n")
	for _, c := range []struct{ profile, metric, send, batch string }{
		{"single-800B-1c-l0-d0", summary.Throughput, ">= 0.70", ">= 0.70"},
		{"single-64B-1c-l0-d0", summary.Throughput, ">= 0.80", ">= 2.4"},
		{"single-4096B-1c-l0-d0", summary.Throughput, ">= 0.70", ">= 0.70"},
		{"sparse-800B-1c-l0-d0", summary.SparseP50, "<= 1.10", "<= 1.10"},
		{"concurrent-800B-64c-l0-d0", summary.Throughput, ">= 0.70", ">= 0.70"},
		{"concurrent-800B-1024c-l0-d0", summary.Throughput, ">= 0.70", ">= 0.70"},
		{"concurrent-64B-1024c-l0-d0", summary.Throughput, ">= 0.70", ">= 2.0"},
	} {
		over, send, batch := "udp "+c.metric, r.of(c.metric, c.profile, "raknet-send", "udp"), r.of(c.metric, c.profile, "raknet-batch", "udp")
		if full := r.ceiling(c.profile); full != c.profile && c.metric == summary.Throughput {
			over = "udp throughput of " + full
			send = r.medians(c.metric, matrix.Cell{Profile: c.profile, Variant: "raknet-send"}, matrix.Cell{Profile: full, Variant: "udp"})
			batch = r.medians(c.metric, matrix.Cell{Profile: c.profile, Variant: "raknet-batch"}, matrix.Cell{Profile: full, Variant: "udp"})
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", c.profile, over, send, c.send, batch, c.batch)
	}
	const lossless, lossy = "single-800B-1c-l0-d0", "single-800B-1c-l5-d0"
	var own []any
	for _, v := range []string{"raknet-send", "raknet-batch"} {
		own = append(own, r.medians(summary.Throughput, matrix.Cell{Profile: lossy, Variant: v}, matrix.Cell{Profile: lossless, Variant: v}))
	}
	fmt.Fprintf(out, "| "+lossy+" | itself without loss | %s | >= 0.80 | %s | >= 0.80 |\n", own...)
}

// ceiling is the profile whose udp cell is a reference for this one: itself, or where that loses over 1 % the one of the same payload with
// the most connections that does not.
func (r raknetRatios) ceiling(profile string) string {
	best, most := profile, 0
	loses := func(id string) bool {
		return r.s.Rows[matrix.Cell{Profile: id, Variant: "udp"}][summary.LostShare].Max > 0.01
	}
	if !loses(profile) {
		return profile
	}
	p := r.s.Profiles[profile]
	for id, q := range r.s.Profiles {
		if q.Suite == p.Suite && q.PayloadBytes == p.PayloadBytes && q.Link == p.Link && q.Connections > most && !loses(id) {
			best, most = id, q.Connections
		}
	}
	return best
}

// leads holds RakNet against every other column wherever the printed tables have it ahead.
func (r raknetRatios) leads(out *strings.Builder, ref *reference.Reference) {
	fmt.Fprint(out, "\nThroughput over the columns that the tables of 12 October 2026 have behind RakNet in that profile; a dash where they do not:\n\n"+
		"| profile | column | over tcp | over kcp-c | over quic-go |\n|---|---|---|---|---|\n")
	others := []string{"tcp", "kcp-c", "quic-go"}
	var profiles []string
	for _, c := range ref.Cells {
		if _, ok := c.Metrics[summary.Throughput]; ok && !slices.Contains(profiles, c.Profile) {
			profiles = append(profiles, c.Profile)
		}
	}
	for _, p := range profiles {
		for _, v := range []string{"raknet-send", "raknet-batch", "raknet-send-policy", "raknet-batch-policy"} {
			ours, _ := ref.Find(p + "/" + v)
			cells, ahead := []string{p, v}, false
			for _, o := range others {
				theirs, _ := ref.Find(p + "/" + o)
				if ours.Metrics[summary.Throughput].Median <= theirs.Metrics[summary.Throughput].Median {
					cells = append(cells, "—")
					continue
				}
				ahead = true
				cells = append(cells, r.of(summary.Throughput, p, v, o))
			}
			if ahead {
				fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
			}
		}
	}
}

// cost lists what a message takes, and how even the connections end.
func (r raknetRatios) cost(out *strings.Builder) {
	fmt.Fprint(out, "\nCPU time per message over `udp`, loaded p99, and how far the connections' ends lie apart (last over first, median run):\n\n"+
		"| profile | column | client CPU | server CPU | loaded p99, ms | last / first end |\n|---|---|---|---|---|---|\n")
	var profiles []string
	for _, c := range r.s.Cells {
		if p := r.s.Profiles[c.Profile]; !slices.Contains(profiles, c.Profile) && !p.Link.Lossy() && p.Link.DelayNS == 0 {
			profiles = append(profiles, c.Profile)
		}
	}
	for _, p := range profiles {
		for _, v := range []string{"raknet-send", "raknet-batch", "raknet-batch-full", "udp", "tcp-batch", "quic-batch"} {
			row := r.s.Rows[matrix.Cell{Profile: p, Variant: v}]
			if len(row) == 0 {
				continue
			}
			p99, ends := "—", "—"
			if x := row[summary.LoadedP99]; x.N > 0 {
				p99 = fmt.Sprintf("%.2f", x.Median/1e6)
			}
			if first, last := row["first_finish"], row["last_finish"]; first.N > 0 && first.Median > 0 {
				ends = fmt.Sprintf("%.2f", last.Median/first.Median)
			}
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", p, v, r.of("client_cpu_per_message", p, v, "udp"), r.of("server_cpu_per_message", p, v, "udp"), p99, ends)
		}
	}
}
