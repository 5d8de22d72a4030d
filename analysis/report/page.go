package report

import (
	"bufio"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/analysis/summary"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

//go:embed templates
var templates embed.FS

// page is everything the template prints; it only walks and prints.
type page struct {
	Title    string
	Style    template.CSS
	Head     headView
	Suites   []suiteView
	Drift    *lineChart
	Effects  effectsView
	Machine  machineView
	Disturb  disturbView
	Not      []entry
	Glossary []entry
}

// entry is a term with its text.
type entry struct{ Term, Text string }

// Long texts take a whole line of a grid.
func (e entry) Long() bool { return len(e.Text) > 60 }

// HTML writes the report as one file that needs no network, script or font. Everything that comes from the artifact is escaped.
func HTML(w io.Writer, in Input) error {
	css, err := templates.ReadFile("templates/style.css")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	t, err := template.ParseFS(templates, "templates/*.gohtml")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	p := newBuilder(in).page()
	p.Style = template.CSS(css) + colours()
	out := bufio.NewWriter(w)
	if err := t.ExecuteTemplate(out, "page", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return out.Flush()
}

func (b *builder) page() page {
	p := page{
		Title: Title(b.in.Artifact.Manifest), Head: b.head(), Drift: newDrift(b.in.Artifact.Probes), Effects: b.effects(),
		Machine: b.machine(), Disturb: b.disturbances(), Not: notCompared(), Glossary: glossary(),
	}
	for _, suite := range suites() {
		if len(b.in.Summary.ProfilesOf(suite)) > 0 {
			p.Suites = append(p.Suites, b.suite(suite))
		}
	}
	return p
}

func suites() []string {
	return []string{wire.SuiteSingle, wire.SuiteSparse, wire.SuiteConcurrent, wire.SuiteLoaded}
}

// suiteView is one section: the table as published, what a message cost, the charts and the runs.
type suiteView struct {
	ID, Title string
	Notes     []string
	Head      []string // names of the columns that name a profile
	Variants  []variantHead
	Span      int // columns of the wide tables
	Facts     []factRow
	Rows      []rowView // one a profile; sparse has tables instead
	Sparse    []sparseView
	Costs     []rowView
	Dots      []dotChart
	Curves    []*lineChart
	Trends    []*lineChart
	Runs      []profileRuns
}

// profileRuns are the runs of all cells of a profile.
type profileRuns struct {
	Profile, Summary string
	Cells            []runsView
}

type variantHead struct{ Name, Class, Marker, Void string }

type rowView struct {
	ID, Rationale string
	Head          []string
	Cells         []cellView
}

// sparseView is the table of one sparse profile: one row a column, as published.
type sparseView struct {
	Profile, Rationale string
	Rows               []sparseRowView
}

// sparseRowView has the three percentiles and the RSS in columns of their own.
type sparseRowView struct {
	Variant    variantHead
	Quantiles  []cellLine
	RSS        []cellLine
	Cell       cellView // count, reason and link
	SamplesP99 string   // why the p99 has no upper bound; empty: it has one
}

func (b *builder) suite(suite string) suiteView {
	s := b.in.Summary
	profiles := s.ProfilesOf(suite)
	v := suiteView{ID: suite, Title: suiteTitle(suite), Notes: b.suiteNotes(suite, profiles), Facts: b.factRows(suite), Head: []string{"Payload", "Connections", "Injected loss"}}
	if suite == wire.SuiteSingle {
		v.Head = []string{"Network profile", "Payload / burst count"}
	}
	for _, name := range s.Variants {
		v.Variants = append(v.Variants, b.variantHead(name))
	}
	v.Span = len(v.Head)
	for _, id := range profiles {
		b.addProfile(&v, suite, id)
	}
	v.Trends = trends(s, suite)
	return v
}

func (b *builder) variantHead(name string) variantHead {
	l := lookOf(name)
	return variantHead{name, l.Class, l.Marker, b.void(name)}
}

// addProfile adds a profile to every part of its suite's section.
func (b *builder) addProfile(v *suiteView, suite, id string) {
	s := b.in.Summary
	p, err := s.Profile(id)
	head := label(p)
	if err != nil { // none of its runs has a record
		p = matrix.Profile{ID: id, Suite: suite}
		head = append([]string{id}, none, none)[:len(v.Head)]
	}
	quantities := quantitiesOf(suite)
	if suite == wire.SuiteSparse {
		v.Sparse = append(v.Sparse, b.sparseTable(p))
	}
	runs := profileRuns{Profile: id}
	values := rowView{ID: id, Rationale: p.Rationale, Head: head}
	costs := values
	for _, variant := range s.Variants {
		c := matrix.Cell{Profile: id, Variant: variant}
		values.Cells = append(values.Cells, newCell(s, c, quantities))
		costs.Cells = append(costs.Cells, newCost(s, c, p))
		if s.Status[c] != nil {
			runs.Cells = append(runs.Cells, b.newRuns(c, quantities))
		}
	}
	runs.Summary = fmt.Sprintf("%d columns", len(runs.Cells))
	v.Runs, v.Costs = append(v.Runs, runs), append(v.Costs, costs)
	if suite != wire.SuiteSparse {
		v.Rows = append(v.Rows, values)
	}
	for _, q := range quantities {
		v.Dots = append(v.Dots, newDotChart(s, p, q))
	}
	if suite == wire.SuiteSparse || suite == wire.SuiteLoaded {
		if c := newCurves(s, p, b.last); c != nil {
			v.Curves = append(v.Curves, c)
		}
	}
}

func (b *builder) sparseTable(p matrix.Profile) sparseView {
	q := []quantity{
		{summary.SparseP50, "p50", "µs", us, true}, {summary.SparseP95, "p95", "µs", us, true}, {summary.SparseP99, "p99", "µs", us, true},
	}
	v := sparseView{Profile: profileName(p), Rationale: p.Rationale}
	for _, c := range cellsOf(b.in.Summary, p.ID) {
		one := newCell(b.in.Summary, c, q)
		r := sparseRowView{Variant: b.variantHead(c.Variant), Cell: one, SamplesP99: b.fewSamples(c)}
		if len(one.Lines) > len(q) {
			r.Quantiles, r.RSS = one.Lines[:len(q)], one.Lines[len(q):]
		}
		v.Rows = append(v.Rows, r)
	}
	return v
}

// fewSamples says when a run of a cell has too few samples for an upper bound of its p99.
func (b *builder) fewSamples(c matrix.Cell) string {
	for _, r := range b.attempts[c] {
		if res := r.Client.Result; res != nil && res.Sparse != nil && res.Sparse.N < stats.MinSamplesP99 {
			return fmt.Sprintf("no upper bound: %d samples a run, %d needed", res.Sparse.N, stats.MinSamplesP99)
		}
	}
	return ""
}

// newCost renders what a cell's messages cost.
func newCost(s *summary.Summary, c matrix.Cell, p matrix.Profile) cellView {
	v := newCell(s, c, nil)
	rows := s.Rows[c]
	if len(rows) == 0 {
		return v
	}
	perGiB := float64(p.PayloadBytes) * 1e9 / (1 << 30) // ns a message to CPU seconds a GiB of payload
	v.Lines = nil
	for _, l := range []struct {
		metric, name string
		per          float64
		unit         string
	}{
		{"client_cpu_per_message", "CPU C", perGiB, "s/GiB"}, {"server_cpu_per_message", "CPU S", perGiB, "s/GiB"},
		{"packets_per_message", "packets", 1, "/ message"}, {"wire_bytes_per_payload_byte", "wire bytes", 1, "/ payload byte"},
		{"effective_loss", "lost packets", 0.01, "%"}, {"jain_index", "Jain index", 1, ""},
	} {
		if r, ok := rows[l.metric]; ok && l.per > 0 {
			v.Lines = append(v.Lines, trimmed(line(l.name, r, l.per, l.unit)))
		}
	}
	return v
}

// trimmed removes the space before an empty unit.
func trimmed(l cellLine) cellLine {
	return cellLine{l.Name, strings.TrimSpace(l.Median), strings.ReplaceAll(l.Range, " )", ")")}
}

// profileName is a profile in words; its id where nothing is known of it.
func profileName(p matrix.Profile) string {
	if p.Connections == 0 {
		return p.ID
	}
	conns := "1 connection"
	if p.Connections > 1 {
		conns = thousands(p.Connections) + " connections"
	}
	return fmt.Sprintf("%s B, %s, %s", thousands(p.PayloadBytes), conns, strings.ToLower(network(p)[:1])+network(p)[1:])
}
