package summary

import (
	"fmt"
	"slices"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// Row is one metric of one cell over its successful runs.
type Row struct {
	Cell   matrix.Cell
	Metric Metric
	N      int
	Median float64
	Min    float64
	Max    float64
	Values []float64 // by repetition
	Runs   []string  // run ids, in the order of Values
}

// Status counts how the planned runs of a cell ended and why the rest has no number.
type Status struct {
	Planned, OK, Failed, Unsupported, NotRun int
	Reason                                   string // of the first run without a number
	Flags                                    []string
}

// Summary holds every planned cell, measured or not, in the order of the plan.
type Summary struct {
	Cells    []matrix.Cell
	Profiles map[string]matrix.Profile // profiles that have at least one record
	Variants []string
	Status   map[matrix.Cell]*Status
	Rows     map[matrix.Cell]map[string]Row

	PlanPushed     bool // the plan was pushed to a registry before the first run, as far as the journal says
	PlanStamped    bool // somebody else time-stamped the plan before the first run, as far as the journal says
	JournalStamped bool // somebody else time-stamped the last line of the journal
}

// Build summarises the last attempt of every planned run. columns is the order in which variants are shown, runIDs is the
// plan; a record that was never planned is an error.
func Build(columns, runIDs []string, records []artifacts.Record) (*Summary, error) {
	s := &Summary{Variants: slices.Clone(columns), Profiles: map[string]matrix.Profile{}, Status: map[matrix.Cell]*Status{}, Rows: map[matrix.Cell]map[string]Row{}}
	planned := map[string]matrix.Cell{}
	for _, id := range runIDs {
		cell, err := s.plan(id)
		if err != nil {
			return nil, err
		}
		planned[id] = cell
	}
	last := map[string]*artifacts.Record{}
	for i := range records {
		r := &records[i]
		if r.Type != "" && r.Type != artifacts.TypeRun {
			continue
		}
		if _, ok := planned[r.RunID]; !ok {
			return nil, fmt.Errorf("run %s has a record but is not in the plan", r.RunID)
		}
		if old := last[r.RunID]; old == nil || r.Attempt >= old.Attempt {
			last[r.RunID] = r
		}
		s.Profiles[r.Profile.ID] = r.Profile
	}
	s.count(runIDs, planned, last)
	s.measure(runIDs, planned, last)
	return s, nil
}

// plan files a run id under its cell and keeps the order in which cells and columns first appear.
func (s *Summary) plan(id string) (matrix.Cell, error) {
	part := strings.Split(id, "/")
	if len(part) != 3 {
		return matrix.Cell{}, fmt.Errorf("run id %q is not <profile>/<variant>/r<repetition>", id)
	}
	cell := matrix.Cell{Profile: part[0], Variant: part[1]}
	if s.Status[cell] == nil {
		s.Status[cell] = &Status{}
		s.Cells = append(s.Cells, cell)
		if !slices.Contains(s.Variants, cell.Variant) {
			s.Variants = append(s.Variants, cell.Variant)
		}
	}
	s.Status[cell].Planned++
	return cell, nil
}

func (s *Summary) count(ids []string, planned map[string]matrix.Cell, last map[string]*artifacts.Record) {
	for _, id := range ids {
		st, r := s.Status[planned[id]], last[id]
		switch {
		case r == nil:
			st.NotRun++
			st.why("not run")
			continue
		case r.Outcome == artifacts.OutcomeOK:
			st.OK++
		case r.Outcome == artifacts.OutcomeUnsupported:
			st.Unsupported++
			st.why("unsupported: " + r.Reason)
		default:
			st.Failed++
			st.why("failed: " + r.Reason)
		}
		st.flag(r.Flags)
	}
}

func (st *Status) why(reason string) {
	if st.Reason == "" {
		st.Reason = reason
	}
}

func (st *Status) flag(flags []string) {
	for _, f := range flags {
		if !slices.Contains(st.Flags, f) {
			st.Flags = append(st.Flags, f)
		}
	}
}

// measure computes the rows of every cell from its successful runs alone.
func (s *Summary) measure(ids []string, planned map[string]matrix.Cell, last map[string]*artifacts.Record) {
	runs := map[matrix.Cell][]*artifacts.Record{}
	for _, id := range ids {
		if r := last[id]; r != nil && r.Outcome == artifacts.OutcomeOK {
			runs[planned[id]] = append(runs[planned[id]], r)
		}
	}
	for cell, rs := range runs {
		s.Rows[cell] = map[string]Row{}
		for _, m := range Metrics() {
			if row := newRow(cell, m, rs); row.N > 0 {
				s.Rows[cell][m.Name] = row
			}
		}
	}
}

func newRow(cell matrix.Cell, m Metric, rs []*artifacts.Record) Row {
	row := Row{Cell: cell, Metric: m}
	for _, r := range rs {
		if v, ok := m.value(r); ok {
			row.Values = append(row.Values, v)
			row.Runs = append(row.Runs, r.RunID)
		}
	}
	row.N = len(row.Values)
	row.Median = stats.Median(row.Values)
	row.Min, row.Max = stats.Range(row.Values)
	return row
}
