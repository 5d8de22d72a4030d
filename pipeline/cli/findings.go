package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"transportbench/analysis/summary"
)

// findingFlags choose how findings are shown.
type findingFlags struct{ json, notes bool }

func (f *findingFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	flags.BoolVar(&f.notes, "notes", false, "list every note, not only how many there are by rule")
}

// text lists failures one by one, notes by rule, and what was looked at.
func (f *findingFlags) text(w io.Writer, v verdict) {
	notes := map[string]int{}
	for _, n := range v.Findings {
		if n.Level == summary.LevelNote && !f.notes {
			notes[n.Rule]++
			continue
		}
		name := map[string]string{summary.LevelFail: "finding", summary.LevelNote: "note"}[n.Level]
		fmt.Fprintf(w, "%s: %s: %s\n  expected %s\n  found    %s\n", name, n.Rule, n.Path, oneLine(n.Expected), oneLine(n.Found))
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	for _, rule := range slices.Sorted(maps.Keys(v.Checked)) {
		extra := ""
		if n := notes[rule]; n > 0 {
			extra = fmt.Sprintf("%d notes (--notes lists them)", n)
		}
		fmt.Fprintf(tw, "  %s\t%d checked\t%s\n", rule, v.Checked[rule], extra)
	}
	for _, rule := range slices.Sorted(maps.Keys(v.Skipped)) {
		fmt.Fprintf(tw, "  %s\tnot checked\t%s\n", rule, v.Skipped[rule])
	}
	_ = tw.Flush() // the error comes again with the last line
	if s := v.Spread; s != nil {
		fmt.Fprintf(w, "throughput: %d of %d pairs of columns overlap in range (RakNet among itself: %d of %d); of %d cells %d spread over 20 %% of their median, %d over 50 %%, %d last under 1 s\n",
			s.Overlap, s.Pairs, s.RakNetOverlap, s.RakNetPairs, s.Cells, s.Over20, s.Over50, s.Short)
	}
	fmt.Fprintf(w, "%s: %d files checked, %d absent (hash known), %d findings, %d notes\n", v.Artifact, v.Files, v.Absent, v.Failures(), len(v.Findings)-v.Failures())
}
