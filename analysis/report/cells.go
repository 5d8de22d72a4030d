package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// cellView is one cell of a table: lines of numbers, or the reason why there are none.
type cellView struct {
	Href, Label string // of its runs
	Lines       []cellLine
	Count       string
	Reason      string
	Absent      bool // not part of this plan
}

// cellLine is a median with its range, as published.
type cellLine struct{ Name, Median, Range string }

func line(name string, r summary.Row, per float64, unit string) cellLine {
	if r.N == 0 {
		return cellLine{name, none, ""}
	}
	return cellLine{name, fmt.Sprintf("%.2f %s", r.Median/per, unit), fmt.Sprintf("(%.2f–%.2f %s)", r.Min/per, r.Max/per, unit)}
}

// newCell renders the quantities of a cell and both peak RSS.
func newCell(s *summary.Summary, c matrix.Cell, quantities []quantity) cellView {
	st, rows := s.Status[c], s.Rows[c]
	if st == nil {
		return cellView{Absent: true}
	}
	v := cellView{Href: "#" + runsID(c), Label: "runs of " + c.Variant + " in " + c.Profile}
	if len(rows) == 0 {
		v.Reason, v.Count = st.Reason, "n=0"
		return v
	}
	for _, q := range quantities {
		name, _, _ := strings.Cut(q.Name, " ")
		if len(quantities) == 1 {
			name = ""
		}
		v.Lines = append(v.Lines, line(name, rows[q.Metric], q.Per, q.Unit))
	}
	v.Lines = append(v.Lines, line("C", rows[summary.ClientRSS], mib, "MiB"), line("S", rows[summary.ServerRSS], mib, "MiB"))
	v.Count = fmt.Sprintf("n=%d", st.OK)
	if r, ok := rows[summary.LostShare]; ok && r.Max > 0 {
		v.Count += ", " + lost(r.Median)
	}
	if st.OK < st.Planned {
		v.Count += fmt.Sprintf(" of %d", st.Planned)
		v.Reason = st.Reason
	}
	return v
}

// runsID is the anchor of a cell's runs.
func runsID(c matrix.Cell) string { return "runs-" + c.Profile + "--" + c.Variant }

// runsView lists every attempt behind a cell.
type runsView struct {
	ID, Profile, Variant string
	Summary              string
	Columns              []string // names of the values
	Runs                 []runView
	NotRun               []string
	Rerun                string // the command that measures the cell's runs again
}

type runView struct {
	ID, Outcome, Reason string
	Attempt             int
	Values              []string
	Started             string
	Elapsed             string
	Switches            string
	Dropped             string
	Flags               string
	Replaced            bool // a later attempt counts
}

func (b *builder) newRuns(c matrix.Cell, quantities []quantity) runsView {
	s := b.in.Summary
	st := s.Status[c]
	v := runsView{ID: runsID(c), Profile: c.Profile, Variant: c.Variant, Summary: countsText(st)}
	for _, q := range quantities {
		v.Columns = append(v.Columns, q.Name+", "+q.Unit)
	}
	if b.in.Rerun != nil && len(b.planned[c]) > 0 {
		v.Rerun = b.in.Rerun(b.planned[c][0])
	}
	for i, r := range b.attempts[c] {
		one := b.newRun(r, quantities)
		one.Replaced = i+1 < len(b.attempts[c]) && b.attempts[c][i+1].RunID == r.RunID
		v.Runs = append(v.Runs, one)
	}
	for _, id := range b.planned[c] {
		if b.last[id] == nil {
			v.NotRun = append(v.NotRun, id)
		}
	}
	return v
}

func countsText(st *summary.Status) string {
	text := fmt.Sprintf("%d planned: %d ok", st.Planned, st.OK)
	for _, c := range []struct {
		n    int
		name string
	}{{st.Failed, "failed"}, {st.Unsupported, "unsupported"}, {st.NotRun, "not run"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.name)
		}
	}
	return text
}

func (b *builder) newRun(r *artifacts.Record, quantities []quantity) runView {
	v := runView{
		ID: r.RunID, Attempt: r.Attempt, Outcome: string(r.Outcome), Reason: r.Reason, Started: r.Started.UTC().Format(time.RFC3339),
		Elapsed: none, Switches: none, Dropped: dropped(r), Flags: strings.Join(r.Flags, ", "),
	}
	for _, q := range quantities {
		v.Values = append(v.Values, b.valueOf(r, q))
	}
	if res := r.Client.Result; res != nil {
		v.Elapsed = strconv.FormatFloat(float64(res.ElapsedNS)/1e9, 'f', 3, 64) + " s"
	}
	if r.Client.Exit != nil && r.Server.Exit != nil {
		v.Switches = fmt.Sprintf("%s / %s", thousands(int(r.Client.Exit.InvolCtx)), thousands(int(r.Server.Exit.InvolCtx)))
	}
	return v
}

// valueOf finds a run's value among those of its cell; a replaced or failed attempt has none.
func (b *builder) valueOf(r *artifacts.Record, q quantity) string {
	if b.last[r.RunID] != r {
		return none
	}
	row := b.in.Summary.Rows[matrix.Cell{Profile: r.Profile.ID, Variant: r.Variant.Name}][q.Metric]
	for i, id := range row.Runs {
		if id == r.RunID {
			return fmt.Sprintf("%.2f", row.Values[i]/q.Per)
		}
	}
	return none
}

// dropped tells injected drops from queue and buffer overflow.
func dropped(r *artifacts.Record) string {
	if r.Counters == nil {
		return unknown
	}
	var injected, queue, seen int64
	for _, d := range r.Counters.Directions {
		injected, queue, seen = injected+d.Dropped, queue+d.Overflow, seen+d.Seen
	}
	return fmt.Sprintf("%s of %s injected; %s queue, %s buffer", thousands(int(injected)), thousands(int(seen)), thousands(int(queue)),
		thousands(int(r.Counters.UDP["RcvbufErrors"])))
}
