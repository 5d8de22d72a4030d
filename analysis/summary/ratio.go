package summary

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// RatioProfile is every comparison between the columns of one profile in one metric. The columns of a profile are compared
// inside blocks; Gate and Adjusted decide whether anything in the profile may be claimed at all.
type RatioProfile struct {
	Profile  string
	Metric   string
	Unit     string
	Lossy    bool
	Blocks   int
	Columns  int
	Gate     float64 // permutation test that no column differs; NaN where nothing can be compared
	Adjusted float64 // Gate and the least simultaneous p-value, Holm over the profiles of the metric
	Ratios   []Ratio
	Notes    []string // what was left out, and why
}

// RatioMetrics lists the metrics whose ratios mean something: they have a better direction and are never zero.
func RatioMetrics() []string {
	var names []string
	for _, m := range Metrics() {
		if m.Better != 0 && !slices.Contains([]string{LostShare, RcvbufDrop}, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Ratios compares all columns of all profiles in one metric. Every run of the artifact takes part, whatever of it is shown
// later, because Holm's correction is over all profiles. Last attempts count, as in every table.
func Ratios(art *artifacts.Artifact, s *Summary, metric string) ([]RatioProfile, error) {
	m, err := ratioMetric(metric)
	if err != nil {
		return nil, err
	}
	return newRatioInput(art, s, m, m.value).compare(), nil
}

func ratioMetric(name string) (Metric, error) {
	if !slices.Contains(RatioMetrics(), name) {
		return Metric{}, fmt.Errorf("metric %q has no ratios: choose from %v", name, RatioMetrics())
	}
	all := Metrics()
	return all[slices.IndexFunc(all, func(m Metric) bool { return m.Name == name })], nil
}

// ratioInput is one metric of an artifact, arranged for comparison.
type ratioInput struct {
	art      *artifacts.Artifact
	metric   Metric
	variants []string
	profiles []*ratioCells
	seed     uint64
}

// ratioCells is one profile: what stands in a table's row, run by run.
type ratioCells struct {
	profile matrix.Profile
	columns []ratioColumn
	blocks  int
	notes   []string
}

type ratioColumn struct {
	name    string
	variant matrix.Variant
	values  []float64 // by repetition from 1; NaN: no number
	runs    []*artifacts.Record
}

// newRatioInput files the last attempts under profile and column. A column with more than 1 % failed runs is void.
func newRatioInput(art *artifacts.Artifact, s *Summary, m Metric, value func(*artifacts.Record) (float64, bool)) *ratioInput {
	in := &ratioInput{art: art, metric: m, variants: s.Variants}
	h := fnv.New64a()
	fmt.Fprint(h, art.Manifest.PlanHash, m.Name)
	in.seed = h.Sum64()
	last, void := art.Last(), VoidColumns(art)
	byID := map[string]*ratioCells{}
	for i := range last {
		r := &last[i]
		p := byID[r.Profile.ID]
		if p == nil {
			p = &ratioCells{profile: r.Profile}
			byID[r.Profile.ID] = p
			in.profiles = append(in.profiles, p)
		}
		p.add(r, value, void[r.Variant.Name])
	}
	in.profiles = slices.DeleteFunc(in.profiles, func(p *ratioCells) bool { return !p.arrange(s.Variants) })
	return in
}

// VoidColumns names the columns of which more than 1 % of all runs failed.
func VoidColumns(art *artifacts.Artifact) map[string]string {
	failed, all := map[string]int{}, map[string]int{}
	for _, r := range art.Last() {
		if all[r.Variant.Name]++; r.Outcome == artifacts.OutcomeFailed {
			failed[r.Variant.Name]++
		}
	}
	void := map[string]string{}
	for v, n := range failed {
		if n*100 > all[v] {
			void[v] = fmt.Sprintf("column %s is void: %d of %d runs failed", v, n, all[v])
		}
	}
	return void
}

func (p *ratioCells) add(r *artifacts.Record, value func(*artifacts.Record) (float64, bool), void string) {
	i := slices.IndexFunc(p.columns, func(c ratioColumn) bool { return c.name == r.Variant.Name })
	if i < 0 {
		i = len(p.columns)
		p.columns = append(p.columns, ratioColumn{name: r.Variant.Name, variant: r.Variant})
	}
	c := &p.columns[i]
	p.blocks = max(p.blocks, r.Repetition)
	for len(c.values) < r.Repetition {
		c.values, c.runs = append(c.values, math.NaN()), append(c.runs, nil)
	}
	v, ok := 0.0, false
	if r.Outcome == artifacts.OutcomeOK {
		v, ok = value(r)
	}
	switch {
	case void != "":
		p.note(void)
	case r.Outcome != artifacts.OutcomeOK:
		p.note(fmt.Sprintf("%s r%d is out: %s", c.name, r.Repetition, r.Outcome))
	case ok && v <= 0:
		p.note(fmt.Sprintf("%s r%d is out: %s has no logarithm", c.name, r.Repetition, Format(v)))
	case ok:
		c.values[r.Repetition-1], c.runs[r.Repetition-1] = v, r
	}
}

func (p *ratioCells) note(text string) {
	if !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}

// arrange orders the columns as tables do and says whether the profile has the metric at all.
func (p *ratioCells) arrange(variants []string) bool {
	measured := false
	for i := range p.columns {
		c := &p.columns[i]
		for len(c.values) < p.blocks {
			c.values, c.runs = append(c.values, math.NaN()), append(c.runs, nil)
		}
		measured = measured || slices.ContainsFunc(c.values, func(v float64) bool { return v > 0 })
	}
	slices.SortFunc(p.columns, func(a, b ratioColumn) int {
		return slices.Index(variants, a.name) - slices.Index(variants, b.name)
	})
	return measured
}

func (p *ratioCells) table() stats.Table {
	t := make(stats.Table, len(p.columns))
	for c, col := range p.columns {
		for _, v := range col.values {
			t[c] = append(t[c], math.Log(v))
		}
	}
	return t
}

func (in *ratioInput) compare() []RatioProfile {
	tables := make([]stats.Table, len(in.profiles))
	for i, p := range in.profiles {
		tables[i] = p.table()
	}
	families, _ := stats.Compare(tables, in.seed)
	floors := in.floors(families)
	out := make([]RatioProfile, len(families))
	for i, f := range families {
		p := in.profiles[i]
		out[i] = RatioProfile{Profile: p.profile.ID, Metric: in.metric.Name, Unit: in.metric.Unit, Lossy: p.profile.Link.Lossy(),
			Blocks: p.blocks, Columns: len(p.columns), Gate: f.Gate, Adjusted: f.Adjusted, Notes: p.notes}
		for _, c := range f.Pairs {
			out[i].Ratios = append(out[i].Ratios, in.ratio(p, c))
		}
		if !math.IsNaN(floors[i]) {
			out[i].Notes = append(out[i].Notes, fmt.Sprintf("A/A: the same column twice; no effect below a factor of %.3f can be claimed", math.Exp(floors[i])))
		}
	}
	return out
}

// floors finds the column that ran twice under two names, profile by profile; NaN where there is none.
func (in *ratioInput) floors(families []stats.Family) []float64 {
	out, at := make([]float64, len(families)), []int(nil)
	var aa []stats.Pair
	for i, f := range families {
		out[i] = math.NaN()
		for _, c := range f.Pairs {
			if cols := in.profiles[i].columns; sameColumn(cols[c.I].variant, cols[c.J].variant) {
				aa, at = append(aa, stats.Pair{D: c.D, Mean: c.Mean, Var: stats.Variance(c.D)}), append(at, i)
				break
			}
		}
	}
	for j, floor := range stats.Floors(aa) {
		out[at[j]] = floor
	}
	return out
}
