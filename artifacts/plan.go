package artifacts

import (
	"bytes"
	"strconv"
	"strings"
)

// PlanRow is what the loader needs of one line of plan.tsv.
type PlanRow struct {
	Index int
	RunID string
}

// Columns of plan.tsv, which has no header. The loader reads two of them; all lines have equally many, and at least three.
const (
	planIndex   = 0
	planRunID   = 2
	planColumns = 3
)

func decodePlan(b []byte) ([]PlanRow, error) {
	b, ok := bytes.CutSuffix(b, []byte("\n"))
	if !ok {
		return nil, atf(PlanFile, 0, ErrMalf, "last line has no end")
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) > MaxLines {
		return nil, atf(PlanFile, 0, ErrLimit, "more than %d lines", MaxLines)
	}
	rows := make([]PlanRow, 0, len(lines))
	seen := make(map[string]bool, len(lines))
	columns := strings.Count(lines[0], "\t") + 1
	for i, l := range lines {
		f := strings.Split(l, "\t")
		if len(f) != columns || len(f) < planColumns {
			return nil, atf(PlanFile, i+1, ErrMalf, "%d columns, want %d", len(f), max(columns, planColumns))
		}
		if f[planIndex] != strconv.Itoa(i) {
			return nil, atf(PlanFile, i+1, ErrMalf, "index %q, want %d", f[planIndex], i)
		}
		id := f[planRunID]
		if err := ValidRunID(id); err != nil {
			return nil, at(PlanFile, i+1, err)
		}
		if seen[id] {
			return nil, atf(PlanFile, i+1, ErrMalf, "run %s is planned twice", id)
		}
		seen[id] = true
		rows = append(rows, PlanRow{i, id})
	}
	return rows, nil
}
