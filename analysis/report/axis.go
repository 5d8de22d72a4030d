package report

import (
	"math"
	"strconv"
)

// axis maps values to a length of the drawing, in user units of the SVG.
type axis struct {
	lo, hi   float64 // values at the ends
	from, to float64 // their coordinates
	log      bool
}

// tick is a labelled value of an axis.
type tick struct {
	At, Label string
	value     float64
}

// linearAxis starts at 0: a length on it may be compared.
func linearAxis(hi, from, to float64) axis {
	if !(hi > 0) {
		hi = 1
	}
	step := niceStep(hi)
	return axis{hi: math.Ceil(hi/step-1e-9) * step, from: from, to: to}
}

// logAxis spans lo to hi, widened to whole steps of 1, 2 and 5 in a decade.
func logAxis(lo, hi, from, to float64) axis {
	if !(lo > 0) {
		lo = math.Max(hi/1e6, 1e-9)
	}
	if !(hi > lo) {
		hi = 2 * lo
	}
	return axis{lo: stepBelow(lo), hi: stepAbove(hi), from: from, to: to, log: true}
}

// at gives the coordinate of v as text; values beyond the ends stay on the edge. The conversions keep a compiler from fusing
// the operations, so that every machine prints the same digit.
func (a axis) at(v float64) string {
	share := 0.0
	if a.log {
		if v > a.lo {
			share = (math.Log10(v) - math.Log10(a.lo)) / (math.Log10(a.hi) - math.Log10(a.lo))
		}
	} else {
		share = (v - a.lo) / (a.hi - a.lo)
	}
	share = math.Min(math.Max(share, 0), 1)
	return coord(a.from + float64(share*(a.to-a.from)))
}

// coord prints a coordinate with one decimal after rounding away the digits in which machines differ.
func coord(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64) // text of FormatFloat always parses
	s := strconv.FormatFloat(v, 'f', 1, 64)
	if n := len(s); s[n-2:] == ".0" {
		s = s[:n-2]
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// niceStep is 1, 2 or 5 times a power of ten, four to eight of which reach hi.
func niceStep(hi float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(hi/4)))
	for _, m := range []float64{1, 2, 5} {
		if hi/(base*m) <= 8 {
			return base * m
		}
	}
	return base * 10
}

func stepBelow(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if base*m <= v*(1+1e-9) {
			return base * m
		}
	}
	return base
}

func stepAbove(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if base*m >= v*(1-1e-9) {
			return base * m
		}
	}
	return base * 10
}

// ticks lists the labelled values: nice steps, or 1, 2 and 5 in every decade as long as they are few.
func (a axis) ticks() []tick {
	var out []tick
	if !a.log {
		step := niceStep(a.hi)
		for i := 0; float64(i)*step <= a.hi*(1+1e-9); i++ {
			out = append(out, a.tick(float64(i)*step))
		}
		return out
	}
	marks := []float64{1, 2, 5}
	if a.hi/a.lo > 2000 {
		marks = marks[:1]
	}
	for e := math.Floor(math.Log10(a.lo) + 1e-9); e <= math.Log10(a.hi)+1e-9; e++ {
		for _, m := range marks {
			if v := m * math.Pow(10, e); v >= a.lo*(1-1e-9) && v <= a.hi*(1+1e-9) {
				out = append(out, a.tick(v))
			}
		}
	}
	return out
}

func (a axis) tick(v float64) tick { return tick{a.at(v), short(v), v} }

// short prints a tick's value without trailing zeros and without an exponent, with separators from a thousand on.
func short(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // text of FormatFloat always parses
	if v == math.Trunc(v) && v < 1e15 {
		return thousands(int(v))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
