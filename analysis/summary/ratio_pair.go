package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// Verdicts beside the words that say which way a claim goes.
const (
	VerdictSame        = "="           // not distinguished: the interval beside it includes 1
	VerdictEqual       = "equal"       // shown equal within Margin
	VerdictUnconfirmed = "unconfirmed" // the interval excludes 1, but not after correction for all comparisons
	VerdictNone        = "not decidable"
	VerdictRefused     = "refused" // not comparable as like with like
)

// Span is a column's runs: median and range in base units.
type Span struct {
	N                int
	Median, Min, Max float64
}

// Ratio is one column over another. Ratios of numbers and interval ends are plain factors; NaN where there is none.
type Ratio struct {
	Num, Den   string
	Role       string
	N, Blocks  int // blocks that have both runs, and planned blocks
	NumSpan    Span
	DenSpan    Span
	Effect     float64 // exp of the mean log ratio; exp of its median where Bimodal
	Lo, Hi     float64 // 95 % interval of this comparison alone
	AllLo      float64 // and the one that holds for all pairs of the profile at once
	AllHi      float64
	Least      float64 // range of the ratio over blocks
	Greatest   float64
	P          float64 // beside Lo and Hi
	Var        float64 // moderated, of one block's log ratio; NaN without Lo and Hi
	Adjusted   float64 // decides Claim
	Claim      bool
	Margin     float64 // of equality, such as 0.05
	Equal      bool    // equal within Margin by two one-sided tests, this comparison alone
	Needed     int     // blocks that would decide equality; 0 where there is an answer
	Bimodal    bool    // no mean ratio: Lo and Hi are the order-statistic interval of the median, from 6 blocks on
	Verdict    string
	Flags      []string
	unresolved bool // differs by less than one step of the memory counter
}

// ratio turns a pair around so that the reference is below the line and judges it.
func (in *ratioInput) ratio(p *ratioCells, c stats.Comparison) Ratio {
	num, den, sign := &p.columns[c.I], &p.columns[c.J], 1.0
	if below(num.variant, den.variant) {
		num, den, sign = den, num, -1
	}
	nan := math.NaN()
	r := Ratio{Num: num.name, Den: den.name, Role: role(num.variant, den.variant), N: c.N, Blocks: p.blocks,
		NumSpan: span(num.values), DenSpan: span(den.values), Effect: nan, Lo: nan, Hi: nan, AllLo: nan, AllHi: nan, Least: nan, Greatest: nan, Var: nan,
		P: c.P, Adjusted: c.Adjusted, Margin: in.margin(p.profile, num, den)}
	d := make([]float64, len(c.D))
	for i := range d {
		d[i] = sign * c.D[i]
	}
	if len(d) > 0 {
		lo, hi := stats.Range(d)
		r.Effect, r.Least, r.Greatest = math.Exp(sign*c.Mean), math.Exp(lo), math.Exp(hi)
	}
	if c.N >= 2 {
		r.Lo, r.Hi = math.Exp(sign*c.Mean-c.Half), math.Exp(sign*c.Mean+c.Half)
		r.AllLo, r.AllHi = math.Exp(sign*c.Mean-c.HalfAll), math.Exp(sign*c.Mean+c.HalfAll)
		r.Var = c.Var
		r.Claim, r.Equal = c.Claim(), c.EquivalenceP(r.Margin) < stats.Level
		if n := c.Needed(r.Margin); n > c.N && !r.Claim && !r.Equal {
			r.Needed = n
		}
	}
	r.unresolved = in.underStep(p.profile, r)
	in.label(&r, p.profile, num, den)
	if r.Bimodal {
		r.medianOnly(d)
	}
	r.Verdict = in.verdict(&r)
	return r
}

// medianOnly replaces everything that rests on a mean by the median of the log ratios and its order-statistic interval.
func (r *Ratio) medianOnly(d []float64) {
	slices.Sort(d)
	nan := math.NaN()
	r.Effect, r.Lo, r.Hi, r.AllLo, r.AllHi, r.P, r.Adjusted = math.Exp(stats.Median(d)), nan, nan, nan, nan, nan, nan
	r.Claim, r.Equal, r.Needed = false, false, 0
	if low, high, _, ok := stats.MedianInterval(len(d)); ok {
		r.Lo, r.Hi = math.Exp(d[low-1]), math.Exp(d[high-1])
	}
}

// verdict is one word. It never says more than the intervals beside it.
func (in *ratioInput) verdict(r *Ratio) string {
	switch {
	case slices.Contains(r.Flags, flagBackends):
		nan := math.NaN()
		r.Effect, r.Lo, r.Hi, r.AllLo, r.AllHi, r.Least, r.Greatest, r.P, r.Adjusted = nan, nan, nan, nan, nan, nan, nan, nan, nan
		r.Claim, r.Equal, r.Needed = false, false, 0
		return VerdictRefused
	case r.Bimodal || r.N < 2:
		return VerdictNone
	case r.unresolved:
		r.Claim, r.Needed = false, 0
		return VerdictSame
	case r.Claim:
		return in.direction(r.Effect > 1)
	case r.Equal:
		return VerdictEqual
	case r.P < stats.Level:
		return VerdictUnconfirmed
	}
	return VerdictSame
}

// FindRatio returns the ratio of num over den in a profile, whichever way round it is kept.
func FindRatio(all []RatioProfile, profile, num, den string) (Ratio, bool) {
	for _, p := range all {
		if p.Profile != profile {
			continue
		}
		for _, r := range p.Ratios {
			switch {
			case r.Num == num && r.Den == den:
				return r, true
			case r.Num == den && r.Den == num:
				return r.turned(), true
			}
		}
	}
	return Ratio{}, false
}

// turned is the same comparison upside down.
func (r Ratio) turned() Ratio {
	r.Num, r.Den, r.NumSpan, r.DenSpan = r.Den, r.Num, r.DenSpan, r.NumSpan
	r.Effect, r.Lo, r.Hi, r.AllLo, r.AllHi, r.Least, r.Greatest = 1/r.Effect, 1/r.Hi, 1/r.Lo, 1/r.AllHi, 1/r.AllLo, 1/r.Greatest, 1/r.Least
	return r
}

// direction names what more or less of the metric means.
func (in *ratioInput) direction(more bool) string {
	name := in.metric.Name
	speed := strings.HasSuffix(name, Throughput) || strings.HasPrefix(name, "sparse_") || strings.HasPrefix(name, "loaded_")
	switch {
	case speed && more == (in.metric.Better > 0):
		return "faster"
	case speed:
		return "slower"
	case more:
		return "more"
	}
	return "less"
}

func span(values []float64) Span {
	vs := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(vs) == 0 {
		return Span{Median: math.NaN(), Min: math.NaN(), Max: math.NaN()}
	}
	s := Span{N: len(vs), Median: stats.Median(vs)}
	s.Min, s.Max = stats.Range(vs)
	return s
}

func (in *ratioInput) margin(p matrix.Profile, num, den *ratioColumn) float64 {
	least := math.Min(span(num.values).Median, span(den.values).Median)
	return Margin(in.metric.Name, p.Link.Lossy(), in.step(p.Suite)/least)
}

// Margin is how far apart columns may be and still be called equal: throughput 5 %, with loss 15 %; p50 10 %; p95 and p99
// 25 %; peak memory 5 % or one step of its counter, given as a share of the lesser value; everything else 10 %.
func Margin(metric string, lossy bool, step float64) float64 {
	switch {
	case strings.HasSuffix(metric, Throughput) && lossy:
		return 0.15
	case strings.HasSuffix(metric, Throughput):
		return 0.05
	case strings.HasSuffix(metric, "_p95"), strings.HasSuffix(metric, "_p99"):
		return 0.25
	case isRSS(metric) && step > 0.05: // false for NaN
		return step
	case isRSS(metric):
		return 0.05
	}
	return 0.10
}

// step is the resolution of the memory counter in bytes: the measured one, but at least what the kernel's batching implies.
func (in *ratioInput) step(suite string) float64 {
	return CounterStep(in.art.Manifest, suite)
}

// CounterStep is the resolution of the memory counter in a suite, in bytes.
func CounterStep(m artifacts.Manifest, suite string) float64 {
	rss := m.RSS[suite]
	return float64(max(rss.StepKiB, rss.FormulaKiB)) * 1024
}

func (in *ratioInput) underStep(p matrix.Profile, r Ratio) bool {
	return isRSS(in.metric.Name) && math.Abs(r.NumSpan.Median-r.DenSpan.Median) < in.step(p.Suite)
}

const flagBackends = "different link backends"

// label adds what a reader must know beside the number.
func (in *ratioInput) label(r *Ratio, p matrix.Profile, num, den *ratioColumn) {
	add := func(format string, args ...any) { r.Flags = append(r.Flags, fmt.Sprintf(format, args...)) }
	if a, b := backends(num.runs), backends(den.runs); len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
		add(flagBackends)
	}
	if r.N < r.Blocks {
		add("%d of %d blocks (the rest lacks a run)", r.N, r.Blocks)
	}
	if in.art.Manifest.Placement.Label == "reduced" {
		add("placement reduced")
	}
	if r.unresolved {
		add("under one step of the counter")
	}
	for _, c := range []*ratioColumn{num, den} {
		if in.bimodal(c) {
			r.Bimodal = true
			add("bimodal: %s", c.name)
		}
		for _, f := range runFlags(c.runs) {
			add("%s: %s", f, c.name)
		}
		if n, short := in.shortSeries(c); short {
			add("no upper bound of the percentile from %d samples: %s", n, c.name)
		}
	}
}

// backends lists the link backends of the runs, sorted.
func backends(runs []*artifacts.Record) []string {
	var names []string
	for _, r := range runs {
		if r != nil && r.Link != nil && !slices.Contains(names, r.Link.Backend) {
			names = append(names, r.Link.Backend)
		}
	}
	slices.Sort(names)
	return names
}
