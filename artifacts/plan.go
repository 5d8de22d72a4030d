package artifacts

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// PlanRow is what the loader needs of one line of plan.tsv.
type PlanRow struct {
	Index int
	RunID string
}

// Columns of plan.tsv that the format requires; the file may have more.
const (
	planIndex = "index"
	planRunID = "run_id"
)

func decodePlan(b []byte) ([]PlanRow, error) {
	lines := strings.Split(string(bytes.TrimSuffix(b, []byte("\n"))), "\n")
	head := strings.Split(lines[0], "\t")
	ci, cr := slices.Index(head, planIndex), slices.Index(head, planRunID)
	if ci < 0 || cr < 0 {
		return nil, atf(PlanFile, 1, ErrMalf, "header lacks %s or %s", planIndex, planRunID)
	}
	rows := make([]PlanRow, 0, len(lines)-1)
	seen := make(map[string]bool, len(lines))
	for i, l := range lines[1:] {
		f := strings.Split(l, "\t")
		if len(f) != len(head) {
			return nil, atf(PlanFile, i+2, ErrMalf, "%d columns, the header has %d", len(f), len(head))
		}
		n, err := strconv.Atoi(f[ci])
		if err != nil || n != i {
			return nil, atf(PlanFile, i+2, ErrMalf, "index %q, want %d", f[ci], i)
		}
		if err := ValidRunID(f[cr]); err != nil {
			return nil, at(PlanFile, i+2, err)
		}
		if seen[f[cr]] {
			return nil, atf(PlanFile, i+2, ErrMalf, "run %s is planned twice", f[cr])
		}
		seen[f[cr]] = true
		rows = append(rows, PlanRow{n, f[cr]})
	}
	return rows, nil
}
