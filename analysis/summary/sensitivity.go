package summary

import (
	"math"
	"slices"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
)

// Choices that another analyst could have made.
const (
	ChoiceMedian      = "ratio of medians"
	ChoiceMean        = "ratio of means"
	ChoiceMin         = "ratio of least runs"
	ChoiceMax         = "ratio of greatest runs"
	ChoiceUncorrected = "no correction for many comparisons"
	ChoiceLinear      = "percentile by linear interpolation"
)

// Flip is a pair of columns that comes out otherwise under another choice.
type Flip struct {
	Profile, Metric, Num, Den string
	Choice                    string
	Claimed                   bool    // the printed conclusion is a claim, not only an order
	Base                      float64 // ratio as printed
	BaseVerdict               string
	Other                     float64 // ratio under the choice
	OtherVerdict              string
}

// Sensitivity is what was tried on an artifact and what flipped.
type Sensitivity struct {
	Tried map[string]int // comparisons by choice
	Flips []Flip
	Notes []string
}

// Sensitivities lists every comparison whose conclusion changes. A ratio of summaries has no interval: it flips a pair when it
// lies on the other side of 1. The other two choices flip a pair when the verdict changes.
func Sensitivities(art *artifacts.Artifact, s *Summary, metrics []string) (*Sensitivity, error) {
	out := &Sensitivity{Tried: map[string]int{}}
	for _, name := range metrics {
		m, err := ratioMetric(name)
		if err != nil {
			return nil, err
		}
		in := newRatioInput(art, s, m, m.value)
		base := in.compare()
		for i, p := range base {
			out.summaries(in.profiles[i], p)
			out.uncorrected(in, p)
		}
		if p, isRTT := percentileShare(name); isRTT {
			out.linear(art, s, m, p, base)
		}
	}
	return out, nil
}

func (o *Sensitivity) summaries(cells *ratioCells, p RatioProfile) {
	of := map[string]func([]float64) float64{ChoiceMedian: stats.Median[float64], ChoiceMean: stats.Mean[float64], ChoiceMin: slices.Min[[]float64], ChoiceMax: slices.Max[[]float64]}
	for _, r := range p.Ratios {
		num, den := cells.both(r.Num, r.Den)
		if math.IsNaN(r.Effect) || len(num) == 0 || r.Verdict == VerdictRefused {
			continue
		}
		for _, choice := range []string{ChoiceMedian, ChoiceMean, ChoiceMin, ChoiceMax} {
			o.Tried[choice]++
			if other := of[choice](num) / of[choice](den); (other-1)*(r.Effect-1) < 0 {
				o.Flips = append(o.Flips, flip(p, r, choice, other, side(other)))
			}
		}
	}
}

// both returns the runs of two columns in the blocks that have both.
func (p *ratioCells) both(num, den string) (a, b []float64) {
	at := func(name string) ratioColumn {
		return p.columns[slices.IndexFunc(p.columns, func(c ratioColumn) bool { return c.name == name })]
	}
	x, y := at(num), at(den)
	for i := range x.values {
		if !math.IsNaN(x.values[i]) && !math.IsNaN(y.values[i]) {
			a, b = append(a, x.values[i]), append(b, y.values[i])
		}
	}
	return a, b
}

func (o *Sensitivity) uncorrected(in *ratioInput, p RatioProfile) {
	for _, r := range p.Ratios {
		if math.IsNaN(r.P) || r.unresolved {
			continue
		}
		o.Tried[ChoiceUncorrected]++
		if !r.Claim && r.P < stats.Level {
			o.Flips = append(o.Flips, flip(p, r, ChoiceUncorrected, r.Effect, in.direction(r.Effect > 1)))
		}
	}
}

func flip(p RatioProfile, r Ratio, choice string, other float64, verdict string) Flip {
	return Flip{Profile: p.Profile, Metric: p.Metric, Num: r.Num, Den: r.Den, Choice: choice, Claimed: r.Claim,
		Base: r.Effect, BaseVerdict: r.Verdict, Other: other, OtherVerdict: verdict}
}

func side(ratio float64) string {
	if ratio > 1 {
		return "above 1"
	}
	return "below 1"
}

// percentileShare is 0.99 of "loaded_p99".
func percentileShare(metric string) (float64, bool) {
	for suffix, p := range map[string]float64{"_p50": 0.50, "_p95": 0.95, "_p99": 0.99} {
		if strings.HasSuffix(metric, suffix) {
			return p, true
		}
	}
	return 0, false
}
