package replication

import (
	"fmt"
	"slices"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/artifacts/reference"
)

// sameAsPublished are the columns of the tables of 12 October 2026 whose program is the same here: the C KCP, and quic-go as a control.
// TCP is not: it was Tokio's there and is Go's here.
var sameAsPublished = []string{"kcp-c", "quic-go"}

// runsKnown is the number of runs that a median and a range tell completely.
const runsKnown = 3

// FromReference asks what printed tables and statements claim.
func FromReference(ref *reference.Reference, claims []string) (*Ladder, error) {
	l := &Ladder{Claims: claims, Orders: []Order{}, Original: Original{ID: ref.Manifest.ID, Kind: reference.Kind, SHA256: ref.SHA256, Denominators: sameAsPublished}}
	results, err := summary.Claims(ref, nil, nil)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range results {
		ids = append(ids, r.ID)
		if len(claims) == 0 || slices.Contains(claims, r.ID) {
			l.addStatement(ref, r)
		}
	}
	for _, id := range claims {
		if !slices.Contains(ids, id) {
			return nil, fmt.Errorf("%s has no claim %q: choose from %s", ref.Manifest.ID, id, strings.Join(ids, ", "))
		}
	}
	if err := l.power(ref); err != nil {
		return nil, err
	}
	for _, c := range ref.Cells {
		if l.wants(c.ID()) {
			l.addPublished(c)
		}
	}
	return l, nil
}

// addStatement lists the pairs of a statement once; what its own numbers do not show is not asked of others.
func (l *Ladder) addStatement(ref *reference.Reference, r summary.ClaimResult) {
	for _, p := range r.Pairs {
		a, _ := ref.Find(p.Profile + "/" + p.Greater) // Claims found both
		b, _ := ref.Find(p.Profile + "/" + p.Less)
		x, y := a.Metrics[p.Metric].Median, b.Metrics[p.Metric].Median
		if x <= y {
			l.leave(fmt.Sprintf("%s: %s over %s in %s of %s: the printed medians say otherwise", r.ID, p.Greater, p.Less, p.Metric, p.Profile))
			continue
		}
		o := Order{Claim: r.ID, Profile: p.Profile, Metric: p.Metric, Greater: p.Greater, Less: p.Less, Ratio: summary.Number(x / y)}
		known := slices.ContainsFunc(l.Orders, func(k Order) bool { k.Claim = o.Claim; return k == o })
		if !known {
			l.Orders = append(l.Orders, o)
		}
	}
}

// leave notes once what is not asked.
func (l *Ladder) leave(why string) {
	if !slices.Contains(l.Left, why) {
		l.Left = append(l.Left, why)
	}
}

// power sets the runs that the asked statements need.
func (l *Ladder) power(ref *reference.Reference) error {
	if len(l.Claims) == 0 {
		return nil
	}
	all, err := summary.Power(ref, nil)
	if err != nil {
		return err
	}
	for _, p := range all {
		if slices.Contains(l.Claims, p.ID) {
			if p.Runs == 0 {
				return fmt.Errorf("claim %s: no number of runs would show it: the printed medians of %s do not differ that way", p.ID, p.Pair)
			}
			l.Repetitions = max(l.Repetitions, p.Runs)
		}
	}
	return nil
}

// addPublished keeps the numbers of a cell whose runs can be told from median and range.
func (l *Ladder) addPublished(c reference.Cell) {
	out := Cell{Profile: c.Profile, Variant: c.Variant}
	for _, metric := range summary.TableMetrics(c.Suite) {
		q, ok := c.Metrics[metric]
		if !ok {
			continue
		}
		median, least, greatest, err := q.Base()
		if err != nil || c.N != runsKnown {
			l.leave(fmt.Sprintf("magnitudes of %s: printed as median and range of %d runs, which do not tell the others", c.Profile, c.N))
			continue
		}
		out.Metrics = append(out.Metrics, Values{Metric: metric, Margin: summary.Number(summary.Margin(metric, c.LossPPM > 0, 0)),
			Runs: []summary.Number{summary.Number(least), summary.Number(median), summary.Number(greatest)}})
	}
	l.Cells = append(l.Cells, out)
}
