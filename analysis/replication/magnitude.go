package replication

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// MagnitudeVerdict is rung 3 for one metric of one cell: the column over the columns whose program is the same in both, here over there.
// Peak memory has no such denominator, because the speed of a machine does not scale it.
type MagnitudeVerdict struct {
	Profile      string            `json:"profile"`
	Variant      string            `json:"variant"`
	Metric       string            `json:"metric"`
	Margin       summary.Number    `json:"margin"`
	Denominators []string          `json:"denominators,omitempty"`
	N            [2]int            `json:"n"`     // runs there and here
	Effect       summary.Number    `json:"ratio"` // here over there
	Interval     [2]summary.Number `json:"interval_95"`
	Needed       int               `json:"needed,omitempty"` // runs in both that would show equality
	Verdict      string            `json:"verdict"`
	Reason       string            `json:"reason,omitempty"`

	estimate stats.Estimate
	ok       bool
}

// ColumnVerdict is one column over all its throughput profiles: the mean effect of a random-effects model.
type ColumnVerdict struct {
	Variant  string            `json:"variant"`
	Profiles int               `json:"profiles"`
	Effect   summary.Number    `json:"ratio"`
	Interval [2]summary.Number `json:"interval_95"`
	Tau2     summary.Number    `json:"tau2"` // variance between profiles, on the log scale
}

// comparer holds what the magnitudes of one artifact are compared with.
type comparer struct {
	l    *Ladder
	a    *artifacts.Artifact
	s    *summary.Summary
	void map[string]string
	same bool // one class of machine
}

func judgeMagnitudes(l *Ladder, a *artifacts.Artifact, s *summary.Summary, same bool) ([]MagnitudeVerdict, []ColumnVerdict) {
	c := comparer{l, a, s, summary.VoidColumns(a), same}
	var out []MagnitudeVerdict
	for _, cell := range l.Cells {
		for _, v := range cell.Metrics {
			out = append(out, c.judge(cell, v))
		}
	}
	c.decide(out)
	return out, pool(out)
}

func (c comparer) judge(cell Cell, v Values) MagnitudeVerdict {
	nan := summary.Number(math.NaN())
	m := MagnitudeVerdict{Profile: cell.Profile, Variant: cell.Variant, Metric: v.Metric, Margin: v.Margin, Effect: nan, Interval: [2]summary.Number{nan, nan}}
	here, ok := c.s.Rows[matrix.Cell{Profile: cell.Profile, Variant: cell.Variant}][v.Metric]
	if !ok {
		m.Reason = whyNot(c.s, cell.Profile, cell.Variant)
		return m
	}
	if m.Reason = c.void[cell.Variant]; m.Reason != "" {
		return m
	}
	if m.Reason = c.unlike(cell); m.Reason != "" {
		return m
	}
	theirs, ours, missing := c.denominators(cell, v.Metric, &m)
	if m.Reason = missing; missing != "" {
		return m
	}
	was, okWas := part(c.l.Original.Blocks, plain(v.Runs), theirs)
	is, okIs := part(true, byRepetition(here), ours)
	m.N = [2]int{was.N, is.N}
	if !okWas || !okIs {
		m.Reason = fmt.Sprintf("not decidable with %d and %d runs", was.N, is.N)
		return m
	}
	m.estimate, m.ok = stats.Sum(is, was.Times(-1)), true
	half := m.estimate.Half(1 - stats.Level)
	m.Effect = summary.Number(math.Exp(m.estimate.Mean))
	m.Interval = [2]summary.Number{summary.Number(math.Exp(m.estimate.Mean - half)), summary.Number(math.Exp(m.estimate.Mean + half))}
	return m
}

// unlike says why a cell was not measured in the same way. Printed tables do not say how, and another class only shows an effect.
func (c comparer) unlike(cell Cell) string {
	if !c.same || len(cell.Facts) == 0 {
		return ""
	}
	return summary.CellDifference(cell.Facts, summary.CellFacts(c.a, matrix.Cell{Profile: cell.Profile, Variant: cell.Variant}))
}

// denominators finds the columns of a profile whose program is the same in both, without the one under test, and their runs.
func (c comparer) denominators(cell Cell, metric string, m *MagnitudeVerdict) (theirs, ours [][]float64, missing string) {
	if isMemory(metric) {
		return nil, nil, ""
	}
	for _, other := range c.l.Cells {
		if other.Profile != cell.Profile || other.Variant == cell.Variant || !c.sameProgram(other) || c.void[other.Variant] != "" {
			continue
		}
		row, ok := c.s.Rows[matrix.Cell{Profile: other.Profile, Variant: other.Variant}][metric]
		i := slices.IndexFunc(other.Metrics, func(v Values) bool { return v.Metric == metric })
		if !ok || i < 0 {
			continue
		}
		m.Denominators = append(m.Denominators, other.Variant)
		theirs, ours = append(theirs, plain(other.Metrics[i].Runs)), append(ours, byRepetition(row))
	}
	if len(theirs) == 0 {
		return nil, nil, "no other column of the profile has the same program in both"
	}
	return theirs, ours, ""
}

func (c comparer) sameProgram(cell Cell) bool {
	if len(c.l.Original.Denominators) > 0 {
		return slices.Contains(c.l.Original.Denominators, cell.Variant)
	}
	was := c.l.Original.Drivers[cell.Driver]
	return was != "" && was == c.a.Manifest.Drivers[cell.Driver].SHA256
}

// part is the mean log of a column over the geometric mean of the denominators: block by block where blocks are known, else of
// independent runs.
func part(blocks bool, column []float64, denominators [][]float64) (stats.Part, bool) {
	share := 1 / float64(max(1, len(denominators)))
	if !blocks {
		p, ok := stats.MeanOf(logs(column))
		parts := []stats.Part{p}
		for _, d := range denominators {
			p, okOne := stats.MeanOf(logs(d))
			parts, ok = append(parts, p.Times(-share)), ok && okOne
		}
		if !ok {
			return parts[0], false
		}
		e := stats.Sum(parts...)
		return stats.Part{N: e.N, Mean: e.Mean, Error2: e.Var / float64(e.N), DF: e.DF}, true
	}
	var ds []float64
	for b, v := range column {
		d := math.Log(v)
		for _, other := range denominators {
			if b >= len(other) {
				d = math.NaN()
				break
			}
			d -= share * math.Log(other[b])
		}
		if !math.IsNaN(d) && !math.IsInf(d, 0) {
			ds = append(ds, d)
		}
	}
	return stats.MeanOf(ds)
}

func logs(values []float64) []float64 {
	var out []float64
	for _, v := range values {
		if v > 0 { // false for NaN: no run
			out = append(out, math.Log(v))
		}
	}
	return out
}

func plain(ns []summary.Number) []float64 {
	out := make([]float64, len(ns))
	for i, n := range ns {
		out[i] = float64(n)
	}
	return out
}

// decide tests equality for each magnitude alone and difference with Holm's correction over all of them, as "different" is the accusation.
func (c comparer) decide(ms []MagnitudeVerdict) {
	ps := make([]float64, len(ms))
	for i, m := range ms {
		if ps[i] = math.NaN(); m.ok && c.same {
			ps[i] = m.estimate.OutsideP(float64(m.Margin))
		}
	}
	for i, adjusted := range stats.Holm(ps) {
		m := &ms[i]
		switch {
		case m.ok && !c.same:
			m.Verdict = ShownOnly
		case m.ok && m.estimate.EquivalenceP(float64(m.Margin)) < stats.Level:
			m.Verdict = Confirmed
		case m.ok && adjusted < stats.Level:
			m.Verdict, m.Reason = Different, "outside of the margin"
		default:
			m.Verdict = Undecided
			if m.ok {
				m.Needed = m.estimate.Needed(float64(m.Margin))
				m.Reason = fmt.Sprintf("not decidable with %d and %d runs", m.N[0], m.N[1])
			}
		}
	}
}

// Reach tells how many magnitudes of the original a replication of equally many runs could show to be equal, if nothing differs and every
// program is the same file: those whose scatter is small enough beside the margin.
func (l *Ladder) Reach() (could, all int) {
	for _, cell := range l.Cells {
		for _, v := range cell.Metrics {
			all++
			var others [][]float64
			for _, o := range l.Cells {
				i := slices.IndexFunc(o.Metrics, func(x Values) bool { return x.Metric == v.Metric })
				if i >= 0 && o.Profile == cell.Profile && o.Variant != cell.Variant && !isMemory(v.Metric) && l.counts(o.Variant) {
					others = append(others, plain(o.Metrics[i].Runs))
				}
			}
			p, ok := part(l.Original.Blocks, plain(v.Runs), others)
			if ok && (isMemory(v.Metric) || len(others) > 0) && stats.Sum(p, p.Times(-1)).EquivalenceP(float64(v.Margin)) < stats.Level {
				could++
			}
		}
	}
	return could, all
}

// counts says whether a column can be a denominator at all.
func (l *Ladder) counts(variant string) bool {
	return len(l.Original.Denominators) == 0 || slices.Contains(l.Original.Denominators, variant)
}

func isMemory(metric string) bool { return strings.HasSuffix(metric, "_rss") }

// pool joins the throughput of each column over its profiles.
func pool(ms []MagnitudeVerdict) []ColumnVerdict {
	var names []string
	effects := map[string][]stats.Estimate{}
	for _, m := range ms {
		if m.Metric != summary.Throughput || !m.ok {
			continue
		}
		if !slices.Contains(names, m.Variant) {
			names = append(names, m.Variant)
		}
		effects[m.Variant] = append(effects[m.Variant], m.estimate)
	}
	var out []ColumnVerdict
	for _, name := range names {
		p := stats.Pool(effects[name])
		out = append(out, ColumnVerdict{Variant: name, Profiles: p.N, Effect: summary.Number(math.Exp(p.Mean)), Tau2: summary.Number(p.Tau2),
			Interval: [2]summary.Number{summary.Number(math.Exp(p.Mean - p.Half)), summary.Number(math.Exp(p.Mean + p.Half))}})
	}
	return out
}
