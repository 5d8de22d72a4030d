package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/analysis/summary"
)

// effectsView is the section of comparisons between columns.
type effectsView struct {
	Overviews []overviewView
	Groups    []effectGroup
}

// overviewView has every column against one reference, a row a profile.
type overviewView struct {
	Metric, Reference string
	Variants          []variantHead
	Rows              []overviewRow
}

type overviewRow struct {
	Profile string
	Cells   []effectCell
}

// effectCell is a ratio with its interval and what may be said of it.
type effectCell struct{ Ratio, Interval, Verdict, Class string }

// effectGroup is every comparison of one profile in one metric.
type effectGroup struct {
	Title, Gate    string
	Notes          []string
	Primary, Other effectTable
}

type effectTable struct {
	Caption string
	Rows    []effectRow
}

type effectRow struct {
	Pair, Role, N string
	Cell          effectCell
	All, Spread   string
	Adjusted      string
	Notes         string
}

func (b *builder) effects() effectsView {
	var v effectsView
	var metrics []string
	for _, p := range b.in.Ratios {
		if p.Blocks < 2 { // one block has no spread, so there is nothing to say
			continue
		}
		metrics = addOnce(metrics, p.Metric)
		v.Groups = append(v.Groups, newGroup(p))
	}
	for _, m := range metrics {
		if o, ok := b.overview(m); ok {
			v.Overviews = append(v.Overviews, o)
		}
	}
	return v
}

// overview compares with C KCP where it was measured, else with raw UDP; false where neither was.
func (b *builder) overview(metric string) (overviewView, bool) {
	for _, ref := range []string{"kcp-c", "udp"} {
		o := overviewView{Metric: metric, Reference: ref}
		var names []string
		for _, v := range b.in.Summary.Variants {
			if v != ref && slices.ContainsFunc(b.in.Ratios, func(p summary.RatioProfile) bool { return p.Metric == metric && against(p, v, ref) != nil }) {
				names = append(names, v)
				o.Variants = append(o.Variants, b.variantHead(v))
			}
		}
		for _, p := range b.in.Ratios {
			if p.Metric == metric && slices.ContainsFunc(p.Ratios, func(r summary.Ratio) bool { return r.Den == ref && !math.IsNaN(r.Effect) }) {
				row := overviewRow{Profile: p.Profile}
				for _, v := range names {
					row.Cells = append(row.Cells, newEffectCell(against(p, v, ref)))
				}
				o.Rows = append(o.Rows, row)
			}
		}
		if len(o.Rows) > 0 {
			return o, true
		}
	}
	return overviewView{}, false
}

func against(p summary.RatioProfile, num, den string) *summary.Ratio {
	for i, r := range p.Ratios {
		if r.Num == num && r.Den == den {
			return &p.Ratios[i]
		}
	}
	return nil
}

func newEffectCell(r *summary.Ratio) effectCell {
	if r == nil {
		return effectCell{Ratio: none}
	}
	c := effectCell{Ratio: factor(r.Effect), Interval: interval(r.Lo, r.Hi), Verdict: r.Verdict}
	if r.Claim {
		c.Class = "claim"
	}
	return c
}

func newGroup(p summary.RatioProfile) effectGroup {
	g := effectGroup{
		Title: p.Profile + ", " + p.Metric, Notes: p.Notes, Primary: effectTable{Caption: "Declared comparisons: " + p.Profile + ", " + p.Metric},
		Other: effectTable{Caption: "Exploratory comparisons: " + p.Profile + ", " + p.Metric},
		Gate:  fmt.Sprintf("%d columns, %d blocks; that no column differs: p %s, Holm over the profiles %s", p.Columns, p.Blocks, pValue(p.Gate), pValue(p.Adjusted)),
	}
	for i := range p.Ratios {
		row := newEffectRow(&p.Ratios[i])
		if p.Ratios[i].Role == summary.RoleExploratory {
			g.Other.Rows = append(g.Other.Rows, row)
		} else {
			g.Primary.Rows = append(g.Primary.Rows, row)
		}
	}
	return g
}

func newEffectRow(r *summary.Ratio) effectRow {
	row := effectRow{
		Pair: r.Num + " / " + r.Den, Role: r.Role, N: fmt.Sprint(r.N), Cell: newEffectCell(r), All: interval(r.AllLo, r.AllHi),
		Spread: interval(r.Least, r.Greatest), Adjusted: pValue(r.Adjusted),
	}
	notes := slices.Clone(r.Flags)
	switch {
	case r.Equal:
		notes = append(notes, fmt.Sprintf("equal within %.0f %%", 100*r.Margin))
	case r.Needed > 0:
		notes = append(notes, fmt.Sprintf("equality within %.0f %% not decidable with %d runs, about %d would decide", 100*r.Margin, r.N, r.Needed))
	}
	row.Notes = strings.Join(notes, "; ")
	return row
}

// factor prints a ratio with two decimals, small ones with two digits; a dash where there is none.
func factor(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return none
	case x < 0.1:
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func interval(lo, hi float64) string {
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return "no interval"
	}
	return "[" + factor(lo) + ", " + factor(hi) + "]"
}

func pValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return none
	case p < 0.0001:
		return "< 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

// Basis says what an interval rests on.
func (v effectsView) Basis() string {
	return fmt.Sprintf("Intervals are model-based (moderated paired t on log ratios, Smyth 2004) and hold for one comparison alone, at %.0f %%.", 100*(1-stats.Level))
}
