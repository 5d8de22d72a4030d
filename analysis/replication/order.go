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

// OrderVerdict is rung 2 for one order: a one-sided moderated t-test within blocks, Holm over all orders of the ladder.
type OrderVerdict struct {
	Order
	N        int               `json:"n"`           // blocks with both columns
	Found    summary.Number    `json:"found"`       // ratio here
	Interval [2]summary.Number `json:"interval_95"` // of this comparison alone
	Adjusted summary.Number    `json:"p_adjusted"`  // of the order as claimed
	Verdict  string            `json:"verdict"`
	Reason   string            `json:"reason,omitempty"`

	ahead, behind float64 // one-sided p-values, NaN: no test
}

func judgeOrders(l *Ladder, a *artifacts.Artifact, s *summary.Summary) ([]OrderVerdict, error) {
	ratios := map[string][]summary.RatioProfile{}
	out := make([]OrderVerdict, len(l.Orders))
	for i, o := range l.Orders {
		if ratios[o.Metric] == nil {
			var err error
			if ratios[o.Metric], err = summary.Ratios(a, s, o.Metric); err != nil {
				return nil, fmt.Errorf("replication.json: order %s: %w", o.Claim, err)
			}
		}
		out[i] = newOrderVerdict(o, s, ratios[o.Metric])
	}
	decideOrders(out, a)
	return out, nil
}

func newOrderVerdict(o Order, s *summary.Summary, all []summary.RatioProfile) OrderVerdict {
	nan := summary.Number(math.NaN())
	v := OrderVerdict{Order: o, Found: nan, Interval: [2]summary.Number{nan, nan}, Adjusted: nan, ahead: math.NaN(), behind: math.NaN()}
	r, ok := summary.FindRatio(all, o.Profile, o.Greater, o.Less)
	if !ok || r.N == 0 {
		v.Reason = whyNot(s, o.Profile, o.Greater, o.Less)
		return v
	}
	v.N, v.Found, v.Interval = r.N, summary.Number(r.Effect), [2]summary.Number{summary.Number(r.Lo), summary.Number(r.Hi)}
	if r.Verdict == summary.VerdictNone || r.Verdict == summary.VerdictRefused || math.IsNaN(r.P) {
		v.Reason = r.Verdict + " with " + plural(r.N, "run") + " " + strings.Join(r.Flags, ", ")
		return v
	}
	if v.ahead, v.behind = r.P/2, 1-r.P/2; r.Effect < 1 {
		v.ahead, v.behind = v.behind, v.ahead
	}
	return v
}

// whyNot names the first cell without a number and the reason.
func whyNot(s *summary.Summary, profile string, variants ...string) string {
	for _, name := range variants {
		c := matrix.Cell{Profile: profile, Variant: name}
		if st := s.Status[c]; st == nil {
			return name + " is not in the plan"
		} else if len(s.Rows[c]) == 0 {
			return name + " " + st.Reason
		}
	}
	return "no block has both columns"
}

// decideOrders tests the claimed direction and the other one, each with Holm's correction over the ladder.
func decideOrders(vs []OrderVerdict, a *artifacts.Artifact) {
	ahead, behind := make([]float64, len(vs)), make([]float64, len(vs))
	for i, v := range vs {
		ahead[i], behind[i] = v.ahead, v.behind
	}
	ahead, behind = stats.Holm(ahead), stats.Holm(behind)
	for i := range vs {
		v := &vs[i]
		v.Adjusted = summary.Number(ahead[i])
		switch {
		case ahead[i] < stats.Level && summary.AcrossModes(a, v.Greater, v.Less):
			v.Verdict = Across
		case ahead[i] < stats.Level:
			v.Verdict = Confirmed
		case behind[i] < stats.Level:
			v.Verdict, v.Reason = Different, "the other way round"
		default:
			v.Verdict = Undecided
			if v.Reason == "" {
				v.Reason = "not decidable with " + plural(v.N, "run")
			}
		}
	}
}

// plural is a number with its word.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// count is "7 orders (5 confirmed, 2 undecided)", in the order of words.
func count(n int, word string, by map[string]int, words ...string) string {
	parts := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return by[w] == 0 })
	for i, w := range parts {
		parts[i] = fmt.Sprintf("%d %s", by[w], w)
	}
	if n == 0 {
		return "no " + word
	}
	return plural(n, word) + " (" + strings.Join(parts, ", ") + ")"
}
