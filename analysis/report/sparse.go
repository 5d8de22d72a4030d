package report

import (
	"fmt"
	"io"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/pipeline/matrix"
)

// sparseTables writes one table a profile with a row per variant, as published.
func sparseTables(w io.Writer, s *summary.Summary, profiles []string, why *reasons) {
	for _, id := range profiles {
		fmt.Fprintf(w, "%s\n\n", sparseName(s, id))
		row(w, []string{"Implementation / API", "Median RTT (range)", "95th-percentile RTT (range)", "99th-percentile RTT (range)", "Peak RSS: C / S (range)", "Runs"})
		rule(w, 6)
		for _, v := range s.Variants {
			row(w, sparseRow(s, matrix.Cell{Profile: id, Variant: v}, why))
		}
		fmt.Fprintln(w)
	}
}

// sparseName is a sparse profile in words, or its id.
func sparseName(s *summary.Summary, id string) string {
	if p, err := s.Profile(id); err == nil {
		return profileName(p)
	}
	return id
}

func sparseRow(s *summary.Summary, c matrix.Cell, why *reasons) []string {
	st, rows := s.Status[c], s.Rows[c]
	if st == nil {
		return []string{c.Variant, "not in this plan", none, none, none, none}
	}
	if len(rows) == 0 {
		return []string{c.Variant, "not measured " + why.mark(st.Reason), none, none, none, "n=0"}
	}
	cells := []string{c.Variant}
	for _, m := range []string{summary.SparseP50, summary.SparseP95, summary.SparseP99} {
		cells = append(cells, scaled(rows[m], us, "µs"))
	}
	return append(cells, strings.Join(rssText(rows), "<br>"), countText(st, rows, why))
}
