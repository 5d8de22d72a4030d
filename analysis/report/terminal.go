package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"transportbench/analysis/summary"
)

// Terminal writes one block a profile with a line per variant: what a person reads when a run ends.
func Terminal(w io.Writer, s *summary.Summary) error {
	b := bufio.NewWriter(w)
	var why reasons
	for _, suite := range suites() {
		for _, id := range s.ProfilesOf(suite) {
			terminalProfile(b, s, suite, id, &why)
		}
	}
	for i, text := range why.texts {
		if i == 0 {
			fmt.Fprintln(b)
		}
		wrapped(b, fmt.Sprintf("[%d] ", i+1), fmt.Sprintf("%s (%s)", text, why.count(i)))
	}
	t := s.Totals()
	fmt.Fprintf(b, "\n%d planned: %d ok, %d failed, %d unsupported, %d not run\n", t.Planned, t.OK, t.Failed, t.Unsupported, t.NotRun)
	return b.Flush()
}

// terminalProfile prints the measured columns as a table and names the others below it.
func terminalProfile(w io.Writer, s *summary.Summary, suite, id string, why *reasons) {
	fmt.Fprintf(w, "\n%s\n", heading(s, suite, id))
	var lines [][]string
	var without []string
	for _, c := range cellsOf(s, id) {
		st, rows := s.Status[c], s.Rows[c]
		if len(rows) == 0 {
			without = append(without, c.Variant+" "+why.mark(st.Reason))
			continue
		}
		line := []string{c.Variant}
		for _, q := range quantitiesOf(suite) {
			line = append(line, terminalValue(rows, q)...)
		}
		rss := fmt.Sprintf("RSS C %.2f / S %.2f MiB", rows[summary.ClientRSS].Median/mib, rows[summary.ServerRSS].Median/mib)
		lines = append(lines, append(line, rss, countText(st, rows, why)))
	}
	alignRows(w, lines)
	if len(without) > 0 {
		wrapped(w, "  not measured: ", strings.Join(without, ", "))
	}
}

func heading(s *summary.Summary, suite, id string) string {
	p, err := s.Profile(id)
	if err != nil {
		return id
	}
	return suiteTitle(suite) + ": " + profileName(p)
}

// terminalValue is a median and its range in cells of their own, so that medians stand below each other.
func terminalValue(rows map[string]summary.Row, q quantity) []string {
	r, ok := rows[q.Metric]
	if !ok {
		return []string{none, ""}
	}
	name := ""
	if q.Metric != summary.Throughput {
		name, _, _ = strings.Cut(q.Name, " ")
		name += " "
	}
	return []string{fmt.Sprintf("%s%.2f %s", name, r.Median/q.Per, q.Unit), fmt.Sprintf("(%.2f–%.2f)", r.Min/q.Per, r.Max/q.Per)}
}

// alignRows pads cells to the widest of their column: names to the left, values to the right, the last cell not at all. Width is counted in
// characters: µ and – take one.
func alignRows(w io.Writer, lines [][]string) {
	var width []int
	for _, l := range lines {
		for i, c := range l {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, l := range lines {
		var b strings.Builder
		for i, c := range l {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			switch {
			case i == len(l)-1:
				b.WriteString("  " + c)
			case i == 0:
				b.WriteString("  " + c + pad)
			default:
				b.WriteString("  " + pad + c)
			}
		}
		fmt.Fprintln(w, b.String())
	}
}
