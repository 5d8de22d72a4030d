package replication

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// leastRuns is what every cell of a replication of single statements gets: fewer have no range.
const leastRuns = 3

// candidate is an order with what the power formula needs.
type candidate struct {
	Order
	primary  bool
	variance float64 // of one block's log ratio
}

// FromArtifact asks what an artifact claims: every primary comparison that it shows (all comparisons where it has no primary one), and the
// value of every cell. claims narrows it to the statements of those ids, with as many runs as their hardest pair needs.
// seal is the SHA-256 of the artifact's SHA256SUMS, from the reference it was pulled by, or empty.
func FromArtifact(a *artifacts.Artifact, s *summary.Summary, seal, from string, claims []string) (*Ladder, error) {
	m := a.Manifest
	class := summary.ClassOf(m)
	l := &Ladder{Claims: claims, Original: Original{
		ID: m.ID, Kind: m.Kind, SHA256: seal, Reference: from, PlanHash: m.PlanHash, Class: &class, Launch: m.Launch, Drivers: map[string]string{}, Blocks: true}}
	for name, d := range m.Drivers {
		if d.SHA256 != "" {
			l.Original.Drivers[name] = d.SHA256
		}
	}
	all, err := claimed(a, s)
	if err != nil {
		return nil, err
	}
	if err := l.choose(all); err != nil {
		return nil, err
	}
	for _, c := range s.Cells {
		if !l.wants(c) {
			continue
		}
		if len(s.Rows[c]) == 0 {
			l.Left = append(l.Left, c.Profile+"/"+c.Variant+": no number in the original, "+s.Status[c].Reason)
			continue
		}
		l.Cells = append(l.Cells, cellOf(a, s, c))
	}
	if len(l.Cells) == 0 {
		return nil, fmt.Errorf("%s measured no cell: nothing can be replicated", m.ID)
	}
	return l, nil
}

// claimed lists every comparison of leading metrics that the artifact shows.
func claimed(a *artifacts.Artifact, s *summary.Summary) ([]candidate, error) {
	var out []candidate
	for _, metric := range []string{summary.Throughput, summary.SparseP50, summary.LoadedP50} {
		profiles, err := summary.Ratios(a, s, metric)
		if err != nil {
			return nil, err
		}
		for _, p := range profiles {
			if summary.TableMetrics(s.Profiles[p.Profile].Suite)[0] != metric {
				continue
			}
			for _, r := range p.Ratios {
				if r.Claim && r.Role != summary.RoleSame {
					out = append(out, newCandidate(p, r))
				}
			}
		}
	}
	return out, nil
}

func newCandidate(p summary.RatioProfile, r summary.Ratio) candidate {
	o := Order{Profile: p.Profile, Metric: p.Metric, Greater: r.Num, Less: r.Den, Ratio: summary.Number(r.Effect)}
	if r.Effect < 1 {
		o.Greater, o.Less, o.Ratio = r.Den, r.Num, summary.Number(1/r.Effect)
	}
	o.Claim = strings.Join([]string{o.Profile, o.Metric, o.Greater + ":" + o.Less}, "/")
	return candidate{o, r.Role == summary.RolePrimary, r.Var}
}

// choose takes the statements that were asked for, else the primary ones.
func (l *Ladder) choose(all []candidate) error {
	l.Orders = []Order{}
	primary := slices.ContainsFunc(all, func(c candidate) bool { return c.primary })
	for _, c := range all {
		if len(l.Claims) == 0 && c.primary == primary || slices.Contains(l.Claims, c.Claim) {
			l.Orders = append(l.Orders, c.Order)
		}
	}
	for _, c := range all {
		if slices.Contains(l.Claims, c.Claim) {
			l.Repetitions = max(l.Repetitions, leastRuns, stats.Required(c.variance, math.Log(float64(c.Ratio)), len(l.Orders)))
		}
	}
	for _, id := range l.Claims {
		if !slices.ContainsFunc(all, func(c candidate) bool { return c.Claim == id }) {
			return fmt.Errorf("the original makes no claim %q; it makes %s", id, some(all))
		}
	}
	return nil
}

// some names a few claims as an example.
func some(all []candidate) string {
	var ids []string
	for _, c := range all[:min(3, len(all))] {
		ids = append(ids, c.Claim)
	}
	switch {
	case len(all) == 0:
		return "none"
	case len(all) > len(ids):
		ids = append(ids, fmt.Sprintf("... (%d in all; replicate without --claim and with --dry-run lists them)", len(all)))
	}
	return strings.Join(ids, ", ")
}

// wants says whether a cell belongs to the ladder.
func (l *Ladder) wants(c matrix.Cell) bool {
	return len(l.Claims) == 0 || slices.ContainsFunc(l.Orders, func(o Order) bool {
		return o.Profile == c.Profile && (o.Greater == c.Variant || o.Less == c.Variant)
	})
}

func cellOf(a *artifacts.Artifact, s *summary.Summary, c matrix.Cell) Cell {
	out := Cell{Profile: c.Profile, Variant: c.Variant, Driver: driverOf(a, c.Variant), Facts: summary.CellFacts(a, c)}
	p := s.Profiles[c.Profile]
	for _, metric := range summary.TableMetrics(p.Suite) {
		row, ok := s.Rows[c][metric]
		if !ok {
			continue
		}
		margin := summary.Margin(metric, p.Link.Lossy(), summary.CounterStep(a.Manifest, p.Suite)/row.Median)
		v := Values{Metric: metric, Margin: summary.Number(margin)}
		for _, x := range byRepetition(row) {
			v.Runs = append(v.Runs, summary.Number(x))
		}
		out.Metrics = append(out.Metrics, v)
	}
	return out
}

// byRepetition puts the value of repetition r at r-1; NaN where there is none.
func byRepetition(row summary.Row) []float64 {
	var out []float64
	for i, id := range row.Runs {
		n, err := strconv.Atoi(id[strings.LastIndexByte(id, 'r')+1:])
		if err != nil || n < 1 || n > maxItems {
			continue // the plan has no such run
		}
		for len(out) < n {
			out = append(out, math.NaN())
		}
		out[n-1] = row.Values[i]
	}
	return out
}

// driverOf names the driver of a column.
func driverOf(a *artifacts.Artifact, variant string) string {
	for _, r := range a.Records {
		if r.Variant.Name == variant {
			return r.Variant.Driver
		}
	}
	return ""
}
