package report

import (
	"encoding/json"
	"fmt"
	"slices"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

// disturbView tells which runs the machine disturbed. A flag labels a run; it never removes one.
type disturbView struct {
	Flags   []flagView
	Unknown []entry  // flags that this kernel cannot judge, and in how many runs
	Blocks  []string // blocks of which every run carries a flag
	Drops   []entry  // most UDP receive-buffer drops of one run, by column
	Judged  int
}

type flagView struct {
	Name  string
	Count int
	Runs  []runRef
}

type runRef struct{ ID, Href string }

func (b *builder) disturbances() disturbView {
	var v disturbView
	byFlag, unknownIn := map[string][]runRef{}, map[string]int{}
	clean, seen := map[string]bool{}, []string(nil)
	for _, p := range b.in.Artifact.Plan {
		r := b.last[p.RunID]
		if r == nil || r.Outcome != artifacts.OutcomeOK {
			continue
		}
		v.Judged++
		block := fmt.Sprintf("%s repetition %d", r.Profile.ID, r.Repetition)
		seen = addOnce(seen, block)
		clean[block] = clean[block] || len(r.Flags) == 0
		c, _ := cellOf(r.RunID) // the summary refused ids of another form
		for _, f := range r.Flags {
			byFlag[f] = append(byFlag[f], runRef{r.RunID, "#" + runsID(c)})
		}
		for _, f := range unjudged(r) {
			unknownIn[f]++
		}
	}
	for _, f := range sortedKeys(byFlag) {
		v.Flags = append(v.Flags, flagView{f, len(byFlag[f]), byFlag[f]})
	}
	for _, f := range sortedKeys(unknownIn) {
		v.Unknown = append(v.Unknown, entry{f, fmt.Sprintf("unknown in %d runs", unknownIn[f])})
	}
	v.Blocks = slices.DeleteFunc(seen, func(block string) bool { return clean[block] })
	for _, variant := range b.in.Summary.Variants {
		if drops, ok := b.in.Summary.Max(variant, summary.RcvbufDrop); ok && drops > 0 {
			v.Drops = append(v.Drops, entry{variant, thousands(int(drops))})
		}
	}
	return v
}

// unjudged lists the flags for which the kernel gave no counters.
func unjudged(r *artifacts.Record) []string {
	var d struct {
		Unknown []string `json:"unknown"`
	}
	if len(r.Host) == 0 || json.Unmarshal(r.Host, &d) != nil {
		return []string{"all disturbance counters"}
	}
	return d.Unknown
}
