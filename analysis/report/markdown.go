package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// Markdown writes the tables of a summary in the published layout: one table a suite, one column a variant, the median with
// its range and both peak RSS in every cell, and the reason where there is no number.
func Markdown(w io.Writer, s *summary.Summary, title string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n", title)
	fmt.Fprintln(b, "Values are medians over the runs of a cell; parentheses show the least and the greatest run, n is the number of runs. "+
		"Throughput is verified echoed payload per direction, 1 MiB = 1,048,576 B. C = client, S = server peak RSS. "+
		"Loads are closed-loop: a loaded latency is throughput seen from the other side.")
	var why reasons
	for _, suite := range suites() {
		profiles := s.ProfilesOf(suite)
		if len(profiles) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", suiteTitle(suite))
		if suite == wire.SuiteSparse {
			sparseTables(b, s, profiles, &why)
		} else {
			wideTable(b, s, suite, profiles, &why)
		}
	}
	footer(b, s, &why)
	return b.Flush()
}

func suiteTitle(suite string) string {
	return map[string]string{
		wire.SuiteSingle: "Single connection", wire.SuiteSparse: "Sparse request/echo latency",
		wire.SuiteConcurrent: "Concurrent throughput", wire.SuiteLoaded: "Loaded latency",
	}[suite]
}

// wideTable has a row per profile and a column per variant.
func wideTable(w io.Writer, s *summary.Summary, suite string, profiles []string, why *reasons) {
	head := []string{"Payload", "Connections", "Injected loss"}
	if suite == wire.SuiteSingle {
		head = []string{"Network profile", "Payload / burst count"}
	}
	row(w, append(head, s.Variants...))
	rule(w, len(head)+len(s.Variants))
	for _, id := range profiles {
		p, err := s.Profile(id)
		cells := []string{id, none, none}[:len(head)]
		if err == nil {
			cells = label(p)
		}
		for _, v := range s.Variants {
			cells = append(cells, cellText(s, matrix.Cell{Profile: id, Variant: v}, suite, why))
		}
		row(w, cells)
	}
}

func label(p matrix.Profile) []string {
	if p.Suite != wire.SuiteSingle {
		return []string{thousands(p.PayloadBytes) + " B", thousands(p.Connections) + " connections", lossName(p.Link) + further(p.Link.More)}
	}
	return []string{network(p), fmt.Sprintf("%s B / %s messages", thousands(p.PayloadBytes), thousands(p.Messages))}
}

// network names an impairment as the published tables do.
func network(p matrix.Profile) string {
	name, more := lossName(p.Link)+" loss", further(p.Link.More)
	switch {
	case p.Link.DelayNS > 0:
		return fmt.Sprintf("%d ms RTT + %s", 2*p.Link.DelayNS.Milliseconds(), name) + more
	case p.Link.Lossy():
		return name + more
	}
	return "No injected loss" + more
}

func cellText(s *summary.Summary, c matrix.Cell, suite string, why *reasons) string {
	st, rows := s.Status[c], s.Rows[c]
	if st == nil {
		return "not in this plan"
	}
	if len(rows) == 0 {
		return "not measured " + why.mark(st.Reason)
	}
	var parts []string
	if suite == wire.SuiteLoaded {
		parts = append(parts, "50%: "+scaled(rows[summary.LoadedP50], ms, "ms"), "99%: "+scaled(rows[summary.LoadedP99], ms, "ms"))
	} else {
		parts = append(parts, scaled(rows[summary.Throughput], mib, "MiB/s"))
	}
	parts = append(parts, rssText(rows)...)
	return strings.Join(append(parts, countText(st, rows, why)), "<br>")
}

func rssText(rows map[string]summary.Row) []string {
	return []string{"C: " + scaled(rows[summary.ClientRSS], mib, "MiB"), "S: " + scaled(rows[summary.ServerRSS], mib, "MiB")}
}

// countText says how many runs stand behind a cell, and that some have no number.
func countText(st *summary.Status, rows map[string]summary.Row, why *reasons) string {
	text := fmt.Sprintf("n=%d", st.OK)
	if r, ok := rows[summary.LostShare]; ok && r.Max > 0 {
		text += ", " + lost(r.Median)
	}
	if st.OK < st.Planned {
		text += fmt.Sprintf(" of %d %s", st.Planned, why.mark(st.Reason))
	}
	return text
}

func row(w io.Writer, cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

func rule(w io.Writer, n int) { fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", n)) }
