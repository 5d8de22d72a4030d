package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"transportbench/analysis/replication"
)

// Replication writes the verdict of a replication, lowest rung first. Without whole, magnitudes that are neither confirmed nor different
// are only counted.
func Replication(w io.Writer, v *replication.Verdict, whole bool) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s replicates %s\n\n%s\n", escape(v.Artifact), escape(v.Original.ID), escape(v.String()))
	if v.Original.Reference != "" {
		fmt.Fprintf(b, "\nThe original was pulled as %s.\n", escape(v.Original.Reference))
	}
	identityRung(b, v.Identity)
	orderRung(b, v)
	magnitudeRung(b, v, whole)
	columnRung(b, v.Columns)
	if len(v.Left) > 0 && whole {
		fmt.Fprint(b, "\n## Not asked\n\n")
		for _, l := range v.Left {
			fmt.Fprintf(b, "* %s\n", escape(l))
		}
	}
	return b.Flush()
}

func identityRung(w io.Writer, id replication.Identity) {
	fmt.Fprintf(w, "\n## 1. Identity: %s\n\n", id.Verdict)
	if id.Verdict == replication.Unpublished {
		fmt.Fprintln(w, "The original published no plan and no digest.")
		return
	}
	fmt.Fprintf(w, "The same: %s. Another: %s. What differs here decides nothing; it may explain what differs below.\n", list(id.Same), list(id.Differs))
}

// list joins words, or says that there are none.
func list(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return escape(strings.Join(words, ", "))
}

func orderRung(w io.Writer, v *replication.Verdict) {
	fmt.Fprint(w, "\n## 2. Order\n\n")
	if len(v.Orders) == 0 {
		fmt.Fprintln(w, "The original claims no order.")
		return
	}
	fmt.Fprint(w, "One-sided moderated t-tests within blocks, Holm's correction over all of these orders.\n\n")
	row(w, []string{"claim", "profile", "metric", "there", "here", "95 % interval", "runs", "p adjusted", "verdict"})
	rule(w, 9)
	for _, o := range v.Orders {
		claim := o.Claim
		if strings.HasPrefix(claim, o.Profile+"/") { // named after what it says
			claim = o.Greater + " > " + o.Less
		} else {
			claim += ": " + o.Greater + " > " + o.Less
		}
		row(w, []string{escape(claim), escape(o.Profile), escape(o.Metric), factor(float64(o.Ratio)), factor(float64(o.Found)), interval(float64(o.Interval[0]), float64(o.Interval[1])), fmt.Sprint(o.N), pValue(float64(o.Adjusted)), because(o.Verdict, o.Reason)})
	}
}

func magnitudeRung(w io.Writer, v *replication.Verdict, whole bool) {
	fmt.Fprint(w, "\n## 3. Magnitude\n\n")
	if v.OtherClass != "" {
		fmt.Fprintf(w, "Another class: %s. Effects are shown with their intervals and never refuted.\n\n", escape(v.OtherClass))
	} else {
		fmt.Fprint(w, "One class. Each column over the geometric mean of the columns whose program is the same in both, here over there; memory as it is. "+
			"Equal within the margin by two one-sided tests, each alone; different with Holm's correction over all.\n\n")
	}
	hidden := 0
	row(w, []string{"profile", "column", "metric", "margin", "here / there", "95 % interval", "runs", "verdict"})
	rule(w, 8)
	for _, m := range v.Magnitudes {
		if !whole && (m.Verdict == replication.Undecided || m.Verdict == replication.ShownOnly) {
			hidden++
			continue
		}
		reason := m.Reason
		if m.Needed > 0 {
			reason += fmt.Sprintf("; about %d would", m.Needed)
		}
		row(w, []string{escape(m.Profile), escape(m.Variant), escape(m.Metric), fmt.Sprintf("%.3g %%", 100*float64(m.Margin)), factor(float64(m.Effect)), interval(float64(m.Interval[0]), float64(m.Interval[1])),
			fmt.Sprintf("%d, %d", m.N[0], m.N[1]), because(m.Verdict, reason)})
	}
	if hidden > 0 {
		fmt.Fprintf(w, "\n%d of %d magnitudes are neither confirmed nor different; tables/replication.md lists all.\n", hidden, len(v.Magnitudes))
	}
}

func columnRung(w io.Writer, columns []replication.ColumnVerdict) {
	if len(columns) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Throughput over all profiles\n\nMean effect of a random-effects model, here over there; tau^2 is the variance between profiles on the log scale.\n\n")
	row(w, []string{"column", "profiles", "here / there", "95 % interval", "tau^2"})
	rule(w, 5)
	for _, c := range columns {
		row(w, []string{escape(c.Variant), fmt.Sprint(c.Profiles), factor(float64(c.Effect)), interval(float64(c.Interval[0]), float64(c.Interval[1])), factor(float64(c.Tau2))})
	}
}

func because(verdict, reason string) string {
	if reason == "" {
		return verdict
	}
	return verdict + ": " + escape(reason)
}
