package report

import (
	"fmt"
	"strings"

	"transportbench/pipeline/matrix"
)

// lossName is the loss of a link in few words.
func lossName(l matrix.LinkSpec) string {
	if b := l.More.Burst; b.On() {
		return fmt.Sprintf("%.2g%% burst", 100*b.Mean())
	}
	return percent(l.LossPPM)
}

// further are the impairments beside loss and delay in words, each after a comma; empty for none.
func further(m matrix.Impairment) string {
	var b strings.Builder
	if g := m.Burst; g.On() {
		fmt.Fprintf(&b, ", bursts begin %s and end %s, loss %s in and %s between them", percent(g.GoodToBadPPM), percent(g.BadToGoodPPM), percent(g.BadLossPPM), percent(g.GoodLossPPM))
	}
	if m.JitterNS > 0 {
		fmt.Fprintf(&b, ", jitter %s", m.JitterNS)
	}
	if m.ReorderPPM > 0 {
		fmt.Fprintf(&b, ", %s reordered", percent(m.ReorderPPM))
	}
	if m.DuplicatePPM > 0 {
		fmt.Fprintf(&b, ", %s duplicated", percent(m.DuplicatePPM))
	}
	if m.RateBitPerS > 0 {
		fmt.Fprintf(&b, ", %s kbit/s", thousands(int(m.RateBitPerS/1000)))
	}
	for _, s := range m.Steps.Used() {
		fmt.Fprintf(&b, ", %s kbit/s after %s", thousands(int(s.RateBitPerS/1000)), s.AfterNS)
	}
	return b.String()
}
