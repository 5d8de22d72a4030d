package summary

import (
	"fmt"
	"math"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/artifacts/reference"
	"transportbench/pipeline/matrix"
)

// Verdicts of a published statement on another machine.
const (
	ClaimHolds     = "holds"
	ClaimFails     = "fails"
	ClaimUndecided = "not decidable"
	ClaimAcross    = "holds, but across API modes"
)

// ClaimResult is one published statement: what its own numbers say, and what an artifact says.
type ClaimResult struct {
	ID      string      `json:"id"`
	Text    string      `json:"text"`
	Printed []string    `json:"printed_differs,omitempty"` // cited values that are not in the tables
	Pairs   []ClaimPair `json:"pairs"`
	Verdict string      `json:"verdict"`
}

// ClaimPair is one step of an order: the greater column should have the greater value.
type ClaimPair struct {
	Profile   string  `json:"profile"`
	Metric    string  `json:"metric"`
	Greater   string  `json:"greater"`
	Less      string  `json:"less"`
	Published string  `json:"published"` // what the printed numbers support
	Across    bool    `json:"across_api_modes,omitempty"`
	Ratio     *Number `json:"ratio,omitempty"` // greater / less within blocks of the artifact
	Lo        *Number `json:"low,omitempty"`   // 95 % interval of this pair alone
	Hi        *Number `json:"high,omitempty"`
	Verdict   string  `json:"verdict"`
	Reason    string  `json:"reason,omitempty"`

	p float64
}

// What the printed numbers of a pair support.
const (
	printedApart   = "in this order, ranges apart"
	printedOverlap = "in this order by medians, ranges overlap"
	printedNot     = "not in this order"
)

// Claims derives every statement of ref from its own tables again and tests it on art: moderated t within blocks, two-sided, with
// Holm's correction over all pairs of all statements. Without an artifact only the tables are looked at.
func Claims(ref *reference.Reference, art *artifacts.Artifact, s *Summary) ([]ClaimResult, error) {
	var out []ClaimResult
	ratios := map[string][]RatioProfile{} // by metric
	for _, c := range ref.Claims.Claims {
		r := ClaimResult{ID: c.ID, Text: c.Text}
		for _, e := range c.Equals {
			cell, _ := ref.Find(e.Cell)
			if e.Value != nil && cell.Metrics[e.Metric].Median != *e.Value {
				r.Printed = append(r.Printed, fmt.Sprintf("%s %s: %v in the statement, %v in the table", e.Cell, e.Metric, *e.Value, cell.Metrics[e.Metric].Median))
			}
		}
		for _, order := range c.Orders {
			for i := 1; i < len(order); i++ {
				p, err := newClaimPair(ref, order[i-1], order[i])
				if err != nil {
					return nil, fmt.Errorf("claim %s: %w", c.ID, err)
				}
				if art != nil {
					if ratios[p.Metric] == nil {
						if ratios[p.Metric], err = Ratios(art, s, p.Metric); err != nil {
							return nil, err
						}
					}
					p.test(ref, art, s, ratios[p.Metric])
				}
				r.Pairs = append(r.Pairs, p)
			}
		}
		out = append(out, r)
	}
	decideClaims(out, art != nil)
	return out, nil
}

func newClaimPair(ref *reference.Reference, greater, less reference.Point) (ClaimPair, error) {
	a, okA := ref.Find(greater.Cell)
	b, okB := ref.Find(less.Cell)
	if !okA || !okB || a.Profile != b.Profile || greater.Metric != less.Metric {
		return ClaimPair{}, fmt.Errorf("%s and %s do not stand in one row", greater.Cell, less.Cell)
	}
	p := ClaimPair{Profile: a.Profile, Metric: greater.Metric, Greater: a.Variant, Less: b.Variant, Published: printedApart, p: math.NaN()}
	switch x, y := a.Metrics[greater.Metric], b.Metrics[less.Metric]; {
	case x.Median <= y.Median:
		p.Published = printedNot
	case x.Min <= y.Max:
		p.Published = printedOverlap
	}
	return p, nil
}

// test looks the pair up in the artifact. What stands in the way of a comparison is the reason.
func (p *ClaimPair) test(ref *reference.Reference, art *artifacts.Artifact, s *Summary, all []RatioProfile) {
	p.Verdict = ClaimUndecided
	if p.Reason = claimGap(ref, s, *p); p.Reason != "" {
		return
	}
	p.Across = AcrossModes(art, p.Greater, p.Less)
	if r, ok := FindRatio(all, p.Profile, p.Greater, p.Less); ok {
		p.take(r)
	}
	if p.Ratio == nil && p.Reason == "" {
		p.Reason = "no block has both columns"
	}
}

func (p *ClaimPair) take(r Ratio) {
	a, b, c := Number(r.Effect), Number(r.Lo), Number(r.Hi)
	p.Ratio, p.Lo, p.Hi, p.p = &a, &b, &c, r.P
	p.Reason = fmt.Sprintf("with %d runs", r.N)
	if r.Verdict == VerdictNone || r.Verdict == VerdictRefused {
		p.p, p.Reason = math.NaN(), r.Verdict+" "+p.Reason+" "+strings.Join(r.Flags, " ")
	}
}

// claimGap says why a pair is not comparable with the published one, or nothing.
func claimGap(ref *reference.Reference, s *Summary, p ClaimPair) string {
	for _, v := range []string{p.Greater, p.Less} {
		c := matrix.Cell{Profile: p.Profile, Variant: v}
		if len(s.Rows[c]) == 0 {
			st := s.Status[c]
			if st == nil {
				return p.Profile + "/" + v + " is not in the plan"
			}
			return p.Profile + "/" + v + " " + st.Reason
		}
		cell, _ := ref.Find(p.Profile + "/" + v)
		q := s.Profiles[p.Profile]
		if got := q.Connections * q.Messages; got != cell.Messages {
			return fmt.Sprintf("measured with %d messages, published with %d", got, cell.Messages)
		}
	}
	return ""
}

// AcrossModes says that one column batches and the other does not, and that they are different transports.
func AcrossModes(art *artifacts.Artifact, greater, less string) bool {
	variants := map[string]matrix.Variant{}
	for _, r := range art.Records {
		variants[r.Variant.Name] = r.Variant
	}
	a, b := variants[greater], variants[less]
	return a.API != b.API && a.Driver != b.Driver
}

// decideClaims corrects over all pairs and lets the weakest pair of a statement decide for it.
func decideClaims(rs []ClaimResult, tested bool) {
	var ps []float64
	for _, r := range rs {
		for _, p := range r.Pairs {
			ps = append(ps, p.p)
		}
	}
	adjusted, k := stats.Holm(ps), 0
	for i := range rs {
		r := &rs[i]
		r.Verdict = ClaimHolds
		for j := range r.Pairs {
			p := &r.Pairs[j]
			p.decide(adjusted[k], tested)
			r.Verdict = weaker(r.Verdict, p.Verdict)
			k++
		}
		if !tested && len(r.Printed) > 0 {
			r.Verdict = ClaimFails
		}
	}
}

func (p *ClaimPair) decide(adjusted float64, tested bool) {
	switch {
	case !tested: // the tables alone: medians only
		p.Verdict = map[string]string{printedApart: ClaimHolds, printedOverlap: ClaimUndecided, printedNot: ClaimFails}[p.Published]
	case math.IsNaN(adjusted) || adjusted >= stats.Level:
		p.Verdict = ClaimUndecided
	case *p.Ratio < 1:
		p.Verdict = ClaimFails
	case p.Across:
		p.Verdict = ClaimAcross
	default:
		p.Verdict = ClaimHolds
	}
}

// weaker orders verdicts: one pair that fails makes the statement fail, one that is open leaves it open.
func weaker(a, b string) string {
	rank := map[string]int{ClaimHolds: 0, ClaimAcross: 1, ClaimUndecided: 2, ClaimFails: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
