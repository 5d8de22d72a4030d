package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// factorOf is what grows along a trend's axis while everything else of the profiles stays the same.
type factorOf struct {
	id, name string
	value    func(matrix.Profile) int
	label    func(matrix.Profile) string
	rest     func(matrix.Profile) string // what stays the same, in words
}

func byConnections() factorOf {
	return factorOf{
		"connections", "connections", func(p matrix.Profile) int { return p.Connections }, func(p matrix.Profile) string { return thousands(p.Connections) },
		func(p matrix.Profile) string {
			return thousands(p.PayloadBytes) + " B, " + strings.ToLower(network(p)[:1]) + network(p)[1:]
		},
	}
}

func byLoss() factorOf {
	return factorOf{
		"loss", "injected loss, each direction", func(p matrix.Profile) int { return p.Link.LossPPM }, func(p matrix.Profile) string { return percent(p.Link.LossPPM) },
		func(p matrix.Profile) string {
			p.Link.LossPPM = 0
			return strings.Split(profileName(p), ", no injected loss")[0]
		},
	}
}

// trends draws throughput, memory and CPU time along connections, and throughput along loss, wherever two profiles differ in
// nothing else.
func trends(s *summary.Summary, suite string) []*lineChart {
	var out []*lineChart
	if suite == wire.SuiteSparse || suite == wire.SuiteLoaded {
		return nil
	}
	for _, t := range []struct {
		f factorOf
		q quantity
	}{
		{byConnections(), quantity{summary.Throughput, "throughput", "MiB/s", mib, true}},
		{byLoss(), quantity{summary.Throughput, "throughput", "MiB/s", mib, true}},
		{byConnections(), quantity{summary.ServerRSS, "server peak RSS", "MiB", mib, true}},
		{byConnections(), quantity{"server_cpu_per_message", "server CPU time a message", "µs", us, true}},
	} {
		for i, group := range groups(s, suite, t.f) {
			id := fmt.Sprintf("trend-%s-%s-%s-%d", suite, t.f.id, t.q.Metric, i)
			if c := newTrend(s, id, group, t.f, t.q); c != nil {
				out = append(out, c)
			}
		}
	}
	return out
}

// groups collects profiles that differ in the factor alone, ordered by it; single ones are left out.
func groups(s *summary.Summary, suite string, f factorOf) [][]matrix.Profile {
	var order []string
	byRest := map[string][]matrix.Profile{}
	for _, id := range s.ProfilesOf(suite) {
		p, err := s.Profile(id)
		if err != nil {
			continue // no record, no number
		}
		key := f.rest(p)
		order = addOnce(order, key)
		byRest[key] = append(byRest[key], p)
	}
	var out [][]matrix.Profile
	for _, key := range order {
		ps := byRest[key]
		slices.SortStableFunc(ps, func(a, b matrix.Profile) int { return cmp.Compare(f.value(a), f.value(b)) })
		if f.value(ps[0]) != f.value(ps[len(ps)-1]) {
			out = append(out, ps)
		}
	}
	return out
}

func newTrend(s *summary.Summary, id string, profiles []matrix.Profile, f factorOf, q quantity) *lineChart {
	c := frame(id, fmt.Sprintf("%s: %s by %s", f.rest(profiles[0]), q.Name, f.id))
	lo, hi := math.Inf(1), 0.0
	for _, p := range profiles {
		for _, cell := range cellsOf(s, p.ID) {
			if r, ok := s.Rows[cell][q.Metric]; ok {
				lo, hi = math.Min(lo, r.Min/q.Per), math.Max(hi, r.Max/q.Per)
			}
		}
	}
	if math.IsInf(lo, 1) {
		return nil
	}
	y, kind := linearAxis(hi, curveBottom, curveTop), "from 0"
	if q.Log && lo > 0 && hi > logSpread*lo {
		y, kind = logAxis(lo, hi, curveBottom, curveTop), "log axis"
	}
	c.XTitle, c.YTitle, c.YTicks = f.name, q.Name+", "+q.Unit+", "+kind+"; a dot is a median, the stroke its range", y.ticks()
	for i, p := range profiles {
		c.XTicks = append(c.XTicks, tick{coord(trendX(i, len(profiles))), f.label(p), float64(f.value(p))})
	}
	var desc []string
	for k, v := range s.Variants {
		l, n := trendLine(s, v, profiles, q, y, trendShift(k, len(s.Variants)))
		if n > 0 {
			c.Lines, c.Legend = append(c.Lines, l), append(c.Legend, legendOf(v, fmt.Sprintf("n=%d", n)))
			desc = append(desc, l.Title)
		}
	}
	c.Desc = strings.Join(desc, "; ")
	return &c
}

// trendX spreads the values evenly: they are names of profiles more than a scale.
func trendX(i, n int) float64 {
	return curveLeft + float64((float64(i)+0.5)*(curveRight-curveLeft)/float64(n))
}

// trendShift keeps the ranges of columns apart.
func trendShift(k, n int) float64 { return 5 * (float64(k) - float64(n-1)/2) }

// trendLine is one column's medians; n is the number of its runs at the least.
func trendLine(s *summary.Summary, variant string, profiles []matrix.Profile, q quantity, y axis, shift float64) (lineView, int) {
	look := lookOf(variant)
	v := lineView{Class: look.Class, Dash: look.Dash, Marker: look.Marker}
	var points, words []string
	least := 0
	for i, p := range profiles {
		r, ok := s.Rows[matrix.Cell{Profile: p.ID, Variant: variant}][q.Metric]
		if !ok {
			continue
		}
		if least == 0 || r.N < least {
			least = r.N
		}
		x := coord(trendX(i, len(profiles)) + shift)
		d := dot{X: x, Y: y.at(r.Median / q.Per), Title: fmt.Sprintf("%s in %s: %s, n=%d", variant, p.ID, scaled(r, q.Per, q.Unit), r.N)}
		v.Dots, points = append(v.Dots, d), append(points, d.X+","+d.Y)
		v.Bars = append(v.Bars, bar{x, y.at(r.Min / q.Per), y.at(r.Max / q.Per)})
		words = append(words, fmt.Sprintf("%.2f", r.Median/q.Per))
	}
	v.Points, v.Title = strings.Join(points, " "), variant+": "+strings.Join(words, ", ")+" "+q.Unit
	return v, least
}
