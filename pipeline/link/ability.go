package link

import (
	"fmt"
	"slices"
	"strings"

	"transportbench/pipeline/matrix"
)

// want is one kind of impairment that a spec asks for.
type want struct {
	verb string // lose packets
	noun string // loss of 1 %
	can  []string
}

// wants lists what a spec asks for, with the backends that can do each.
func wants(spec matrix.LinkSpec) []want {
	var all []want
	add := func(asked bool, verb, noun string, can ...string) {
		if asked {
			all = append(all, want{verb, noun, can})
		}
	}
	m := spec.More
	add(spec.LossPPM > 0, "lose packets", fmt.Sprintf("loss of %g %%", float64(spec.LossPPM)/1e4), BackendNetem, BackendNFT, BackendNFQueue)
	add(spec.DelayNS > 0, "delay packets", fmt.Sprintf("delay of %s one way", spec.DelayNS), BackendNetem, BackendNFQueue)
	add(m.Burst.On(), "lose packets in bursts", "burst loss", BackendNetem, BackendNFQueue)
	add(m.JitterNS > 0, "vary its delay", fmt.Sprintf("jitter of %s", m.JitterNS), BackendNetem, BackendNFQueue)
	add(m.ReorderPPM > 0, "reorder packets", "reordering", BackendNetem, BackendNFQueue)
	add(m.DuplicatePPM > 0, "duplicate packets", "duplicates", BackendNetem)
	add(m.RateBitPerS > 0, "limit the rate", fmt.Sprintf("rate of %d kbit/s", m.RateBitPerS/1000), BackendNetem, BackendNFQueue)
	return all
}

// lacking names what a backend cannot do of a spec, or nothing.
func lacking(backend string, spec matrix.LinkSpec) string {
	var verbs []string
	for _, w := range wants(spec) {
		if !slices.Contains(w.can, backend) {
			verbs = append(verbs, w.verb)
		}
	}
	return strings.Join(verbs, " or ")
}

// needs names the impairment of a profile in plain words.
func needs(spec matrix.LinkSpec) string {
	var nouns []string
	for _, w := range wants(spec) {
		nouns = append(nouns, w.noun)
	}
	if len(nouns) == 0 {
		return "counting packets"
	}
	return strings.Join(nouns, " and ")
}
