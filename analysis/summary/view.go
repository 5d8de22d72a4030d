package summary

import (
	"fmt"
	"slices"
	"strings"

	"transportbench/pipeline/matrix"
)

// Totals counts planned runs by how they ended.
type Totals struct{ Planned, OK, Failed, Unsupported, NotRun int }

// Totals adds up all cells.
func (s *Summary) Totals() Totals {
	var t Totals
	for _, st := range s.Status {
		t.Planned += st.Planned
		t.OK += st.OK
		t.Failed += st.Failed
		t.Unsupported += st.Unsupported
		t.NotRun += st.NotRun
	}
	return t
}

// ProfilesOf returns the ids of a suite's profiles in plan order; the suite is the first word of the id.
func (s *Summary) ProfilesOf(suite string) []string {
	var ids []string
	for _, c := range s.Cells {
		if strings.HasPrefix(c.Profile, suite+"-") && !slices.Contains(ids, c.Profile) {
			ids = append(ids, c.Profile)
		}
	}
	return ids
}

// Profile returns what the records say of a profile; an error when none of its runs has a record.
func (s *Summary) Profile(id string) (matrix.Profile, error) {
	p, ok := s.Profiles[id]
	if !ok {
		return p, fmt.Errorf("profile %s has no record", id)
	}
	return p, nil
}

// RunCounts returns the distinct numbers of successful runs behind the measured cells, ascending.
func (s *Summary) RunCounts() []int {
	var ns []int
	for c := range s.Rows {
		if n := s.Status[c].OK; n > 0 && !slices.Contains(ns, n) {
			ns = append(ns, n)
		}
	}
	slices.Sort(ns)
	return ns
}

// Max returns the greatest run value of a metric over all cells of a column.
func (s *Summary) Max(variant, metric string) (float64, bool) {
	best, found := 0.0, false
	for c, rows := range s.Rows {
		r, ok := rows[metric]
		if c.Variant != variant || !ok {
			continue
		}
		if !found || r.Max > best {
			best, found = r.Max, true
		}
	}
	return best, found
}
