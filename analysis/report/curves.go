package report

import (
	"fmt"
	"math"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// Geometry of a chart with curves in user units.
const (
	curveWidth, curveHeight  = 720.0, 340.0
	curveLeft, curveRight    = 64.0, 684.0
	curveTop, curveBottom    = 16.0, 292.0
	curveLabelY, curveTitleY = 310.0, 330.0
)

// lineChart is a chart of curves: RTT quantiles, or probes over the session.
type lineChart struct {
	ID, Title, Desc                 string
	XTitle, YTitle                  string
	Width, Height                   string
	Left, Right, Top, Bottom        string
	LabelY, TitleX, TitleY, YLabelX string
	XTicks, YTicks                  []tick
	Lines                           []lineView
	Legend                          []legendView
}

type lineView struct {
	Class, Dash, Points, Title string
	Dots                       []dot
	Marker                     string
	Bars                       []bar
}

// bar is the range of a dot.
type bar struct{ X, Lo, Hi string }

type legendView struct{ Name, Class, Dash, Marker, Note string }

func frame(id, title string) lineChart {
	return lineChart{
		ID: id, Title: title, Width: coord(curveWidth), Height: coord(curveHeight), Left: coord(curveLeft), Right: coord(curveRight),
		Top: coord(curveTop), Bottom: coord(curveBottom), LabelY: coord(curveLabelY), TitleX: coord((curveLeft + curveRight) / 2),
		TitleY: coord(curveTitleY), YLabelX: coord(curveLeft - 8),
	}
}

// nines are the labelled probabilities of a quantile axis.
var nines = [...]struct {
	p     float64
	label string
}{{0, "min"}, {0.5, "p50"}, {0.9, "p90"}, {0.95, "p95"}, {0.99, "p99"}, {0.999, "p99.9"}, {0.9999, "p99.99"}}

// nineAxis places probabilities up to last: each further nine takes equally much room.
type nineAxis struct{ last float64 }

// nineAxisTo ends at the first labelled probability that is not below p.
func nineAxisTo(p float64) nineAxis {
	for _, n := range nines {
		if n.p >= p && n.p >= 0.9 {
			return nineAxis{n.p}
		}
	}
	return nineAxis{nines[len(nines)-1].p}
}

func (a nineAxis) at(p float64) string {
	share := math.Log10(1-math.Min(p, a.last)) / math.Log10(1-a.last)
	return coord(curveLeft + float64(share*(curveRight-curveLeft)))
}

func (a nineAxis) ticks() []tick {
	var out []tick
	for _, n := range nines {
		if n.p <= a.last {
			out = append(out, tick{a.at(n.p), n.label, n.p})
		}
	}
	return out
}

// newCurves draws the RTT quantiles of every run of a profile, one line a run: pooling them would be another quantity.
// nil when no run has a series.
func newCurves(s *summary.Summary, p matrix.Profile, runs map[string]*artifacts.Record) *lineChart {
	kind, per, unit := wire.SuiteSparse, float64(us), "µs"
	if p.Suite == wire.SuiteLoaded {
		kind, per, unit = wire.SuiteLoaded, ms, "ms"
	}
	c := frame("rtt-"+p.ID, profileName(p)+": RTT quantiles, one line a run")
	c.XTitle, c.YTitle = "share of messages answered at least this fast, in nines", "RTT, "+unit+" (log axis)"
	lo, hi, last := math.Inf(1), 0.0, 0.0
	var all []curve
	for _, cell := range cellsOf(s, p.ID) {
		of := curvesOf(s, cell, kind, per, runs)
		if len(of) > 0 {
			c.Legend = append(c.Legend, legendOf(cell.Variant, fmt.Sprintf("n=%d, %s samples a run", len(of), samplesOf(of))))
		}
		for _, k := range of {
			lo, hi, last = math.Min(lo, k.y[0]), math.Max(hi, k.y[len(k.y)-1]), math.Max(last, k.p[len(k.p)-1])
		}
		all = append(all, of...)
	}
	if len(all) == 0 {
		return nil
	}
	y := logAxis(lo, hi, curveBottom, curveTop)
	c.YTicks = y.ticks()
	x := nineAxisTo(last)
	c.XTicks = x.ticks()
	for _, k := range all {
		c.Lines = append(c.Lines, k.view(x, y))
	}
	c.Desc = curvesText(s, p)
	return &c
}

// curve is one run's quantiles in shown units, up to the last that its number of samples can tell.
type curve struct {
	run, variant string
	p, y         []float64
	n            int
}

func curvesOf(s *summary.Summary, c matrix.Cell, kind string, per float64, runs map[string]*artifacts.Record) []curve {
	var out []curve
	for _, id := range runIDs(s, c) {
		for _, series := range runs[id].Series {
			ps := stats.FixedP()
			if series.Kind != kind || len(series.Quantiles) != len(ps) || series.N < 1 {
				continue
			}
			k := curve{run: id, variant: c.Variant, n: series.N}
			for i, q := range series.Quantiles {
				if ps[i]*float64(series.N) > float64(series.N)-1 && i > 0 { // beyond: the greatest value again and again
					break
				}
				k.p, k.y = append(k.p, ps[i]), append(k.y, math.Max(float64(q)/per, 1e-6))
			}
			out = append(out, k)
		}
	}
	return out
}

// runIDs lists the runs behind a cell, in the order of its values.
func runIDs(s *summary.Summary, c matrix.Cell) []string {
	for _, m := range summary.Metrics() {
		if r, ok := s.Rows[c][m.Name]; ok {
			return r.Runs
		}
	}
	return nil
}

func (k curve) view(x nineAxis, y axis) lineView {
	l := lookOf(k.variant)
	points := make([]string, 0, len(k.p))
	for i, p := range k.p {
		if xy := x.at(p) + "," + y.at(k.y[i]); len(points) == 0 || points[len(points)-1] != xy {
			points = append(points, xy)
		}
	}
	return lineView{Class: l.Class, Dash: l.Dash, Points: strings.Join(points, " "), Title: fmt.Sprintf("%s: %s samples", k.run, thousands(k.n))}
}

func legendOf(variant, note string) legendView {
	l := lookOf(variant)
	return legendView{variant, l.Class, l.Dash, l.Marker, note}
}

// samplesOf is the number of samples of a run, or the least and the greatest.
func samplesOf(runs []curve) string {
	lo, hi := runs[0].n, runs[0].n
	for _, k := range runs {
		lo, hi = min(lo, k.n), max(hi, k.n)
	}
	if lo == hi {
		return thousands(lo)
	}
	return thousands(lo) + "–" + thousands(hi)
}

func curvesText(s *summary.Summary, p matrix.Profile) string {
	var parts []string
	for _, q := range quantitiesOf(p.Suite) {
		for _, c := range cellsOf(s, p.ID) {
			parts = append(parts, q.Name+" of "+describeRow(s, c, q))
		}
	}
	return strings.Join(parts, "; ")
}
