package report

import (
	"fmt"
	"math"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// quantity is a metric as charts and tables show it.
type quantity struct {
	Metric, Name, Unit string
	Per                float64 // base units in one shown unit
	Log                bool    // the axis when values differ by more than logSpread
}

const logSpread = 30

// quantitiesOf lists what is plotted for a suite. The two percentiles are separate plots: their scales differ.
func quantitiesOf(suite string) []quantity {
	switch suite {
	case wire.SuiteSparse:
		return []quantity{{summary.SparseP50, "p50 RTT", "µs", us, true}, {summary.SparseP99, "p99 RTT", "µs", us, true}}
	case wire.SuiteLoaded:
		return []quantity{{summary.LoadedP50, "p50 RTT", "ms", ms, true}, {summary.LoadedP99, "p99 RTT", "ms", ms, true}}
	}
	return []quantity{{summary.Throughput, "throughput", "MiB/s", mib, false}}
}

// Geometry of a dot plot in user units.
const (
	dotWidth, dotLeft, dotRight = 720.0, 158.0, 664.0
	dotTop, dotRow              = 14.0, 24.0
)

// dotChart shows every run of every column of a profile.
type dotChart struct {
	ID, Title, Desc, Unit string
	Width, Height         string
	Top, Bottom, Left     string
	TickY, UnitY, UnitX   string
	CountX, NameX         string
	Ticks                 []tick
	Rows                  []dotRowView
	Ceiling               *ceilingView
	Log                   bool
}

type dotRowView struct {
	Variant, Class, Marker string
	Y, TextY               string
	Lo, Hi, Median, Y1, Y2 string
	Dots                   []dot
	Count                  string // n=3
	Missing                string // why there is no dot
	MissingX               string
	Href                   string
}

type dot struct{ X, Y, Title, Href string }

type ceilingView struct{ X, LabelX, LabelY, Anchor, Label string }

func newDotChart(s *summary.Summary, p matrix.Profile, q quantity) dotChart {
	rows := cellsOf(s, p.ID)
	height := dotTop + dotRow*float64(len(rows)) + 40
	c := dotChart{
		ID: "dots-" + p.ID + "-" + q.Metric, Unit: q.Unit, Title: fmt.Sprintf("%s: %s, every run", profileName(p), q.Name),
		Width: coord(dotWidth), Height: coord(height), Top: coord(dotTop), Bottom: coord(height - 40), Left: coord(dotLeft),
		TickY: coord(height - 24), UnitY: coord(height - 8), UnitX: coord((dotLeft + dotRight) / 2), CountX: coord(dotRight + 12), NameX: coord(dotLeft - 10),
	}
	limit, limited := ceilingOf(p)
	limited = limited && q.Metric == summary.Throughput
	x := dotAxis(s, rows, q, limit, limited)
	c.Log, c.Ticks = x.log, x.ticks()
	if limited {
		c.Ceiling = ceiling(x, limit/q.Per, dotTop-4)
	}
	var desc []string
	for i, cell := range rows {
		r := dotRowOf(s, cell, q, x, dotTop+dotRow*(float64(i)+0.5))
		c.Rows = append(c.Rows, r)
		desc = append(desc, describeRow(s, cell, q))
	}
	c.Desc = strings.Join(desc, "; ")
	return c
}

// cellsOf lists the planned cells of a profile in the order of columns.
func cellsOf(s *summary.Summary, profile string) []matrix.Cell {
	var out []matrix.Cell
	for _, v := range s.Variants {
		if c := (matrix.Cell{Profile: profile, Variant: v}); s.Status[c] != nil {
			out = append(out, c)
		}
	}
	return out
}

// dotAxis covers every run and the ceiling.
func dotAxis(s *summary.Summary, cells []matrix.Cell, q quantity, limit float64, limited bool) axis {
	lo, hi := math.Inf(1), 0.0
	for _, c := range cells {
		if r, ok := s.Rows[c][q.Metric]; ok {
			lo, hi = math.Min(lo, r.Min/q.Per), math.Max(hi, r.Max/q.Per)
		}
	}
	if limited {
		hi = math.Max(hi, limit/q.Per)
	}
	if q.Log && lo > 0 && hi > logSpread*lo {
		return logAxis(lo, hi, dotLeft, dotRight)
	}
	return linearAxis(hi, dotLeft, dotRight)
}

func dotRowOf(s *summary.Summary, c matrix.Cell, q quantity, x axis, y float64) dotRowView {
	l := lookOf(c.Variant)
	v := dotRowView{Variant: c.Variant, Class: l.Class, Marker: l.Marker, Y: coord(y), TextY: coord(y + 4), Y1: coord(y - 9), Y2: coord(y + 9),
		Href: "#" + runsID(c), MissingX: coord(dotLeft + 8)}
	r, ok := s.Rows[c][q.Metric]
	if !ok {
		v.Missing = missing(s.Status[c])
		return v
	}
	v.Count = fmt.Sprintf("n=%d", r.N)
	v.Lo, v.Hi, v.Median = x.at(r.Min/q.Per), x.at(r.Max/q.Per), x.at(r.Median/q.Per)
	for i, val := range r.Values {
		shift := 3.5 * stagger(i, len(r.Values))
		v.Dots = append(v.Dots, dot{x.at(val / q.Per), coord(y + shift), fmt.Sprintf("%s: %.2f %s", r.Runs[i], val/q.Per, q.Unit), v.Href})
	}
	return v
}

// stagger shifts neighbouring runs up, down or not at all, so that equal ones stay apart.
func stagger(i, n int) float64 {
	if n == 1 {
		return 0
	}
	return float64(i%3 - 1)
}

// missing is the state of a cell without a number in one word; the table beside it has the reason.
func missing(st *summary.Status) string {
	switch {
	case st.Failed > 0:
		return "failed"
	case st.Unsupported > 0:
		return "unsupported"
	case st.OK > 0:
		return "no such metric"
	}
	return "not run"
}

func describeRow(s *summary.Summary, c matrix.Cell, q quantity) string {
	r, ok := s.Rows[c][q.Metric]
	if !ok {
		return c.Variant + ": " + missing(s.Status[c])
	}
	return fmt.Sprintf("%s: median %s, n=%d", c.Variant, scaled(r, q.Per, q.Unit), r.N)
}

// ceilingOf is the most that a full window can carry in B/s where a delay is injected: window x payload x connections / RTT.
// Without delay the RTT is the transport's own and there is no such bound.
func ceilingOf(p matrix.Profile) (float64, bool) {
	if p.Link.DelayNS <= 0 {
		return 0, false
	}
	rtt := (2 * p.Link.DelayNS).Seconds()
	return float64(p.Window) * float64(p.PayloadBytes) * float64(p.Connections) / rtt, true
}

func ceiling(x axis, v, labelY float64) *ceilingView {
	c := ceilingView{X: x.at(v), LabelY: coord(labelY), Anchor: "end", Label: fmt.Sprintf("window ceiling %.2f MiB/s", v)}
	c.LabelX = c.X
	return &c
}
