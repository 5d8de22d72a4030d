package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"transportbench/artifacts"
)

// newDrift draws the probe before every block over the session; nil when the matrix has no probe or none gave a number.
func newDrift(probes []artifacts.Probe) *lineChart {
	c := frame("drift", "Probe before every block: how the machine itself moved")
	c.XTitle, c.YTitle = "minutes since the first probe", "MiB/s, from 0"
	series, minutes, most := probeSeries(probes)
	if len(series) == 0 {
		return nil
	}
	x, y := linearAxis(minutes, curveLeft, curveRight), linearAxis(most, curveBottom, curveTop)
	c.XTicks, c.YTicks = x.ticks(), y.ticks()
	var desc []string
	for _, s := range series {
		l := lookOf(s.variant)
		v := lineView{Class: l.Class, Dash: l.Dash, Marker: l.Marker, Title: s.variant}
		var points []string
		for _, p := range s.points {
			d := dot{X: x.at(p.minute), Y: y.at(p.rate), Title: fmt.Sprintf("%s before block %d: %.2f MiB/s", s.variant, p.block, p.rate)}
			v.Dots, points = append(v.Dots, d), append(points, d.X+","+d.Y)
		}
		v.Points = strings.Join(points, " ")
		c.Lines = append(c.Lines, v)
		c.Legend = append(c.Legend, legendOf(s.variant, fmt.Sprintf("n=%d", len(s.points))))
		lo, hi := s.span()
		desc = append(desc, fmt.Sprintf("%s between %.2f and %.2f MiB/s", s.variant, lo, hi))
	}
	c.Desc = strings.Join(desc, "; ")
	return &c
}

type probePoint struct {
	block        int
	minute, rate float64 // MiB/s
}

type probeLine struct {
	variant string
	points  []probePoint
}

func (l probeLine) span() (lo, hi float64) {
	lo = math.Inf(1)
	for _, p := range l.points {
		lo, hi = math.Min(lo, p.rate), math.Max(hi, p.rate)
	}
	return lo, hi
}

func probeSeries(probes []artifacts.Probe) (lines []probeLine, minutes, most float64) {
	for _, p := range probes {
		minute := p.Started.Sub(probes[0].Started).Minutes()
		for _, r := range p.Results {
			if r.ElapsedNS <= 0 {
				continue
			}
			i := slices.IndexFunc(lines, func(l probeLine) bool { return l.variant == r.Variant })
			if i < 0 {
				lines, i = append(lines, probeLine{variant: r.Variant}), len(lines)
			}
			rate := float64(r.Bytes) / (float64(r.ElapsedNS) / 1e9) / mib
			lines[i].points = append(lines[i].points, probePoint{p.Block, minute, rate})
			minutes, most = math.Max(minutes, minute), math.Max(most, rate)
		}
	}
	return lines, minutes, most
}
