package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

func newCompare() *cobra.Command {
	var tolerance float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Tell whether an artifact is worse than an earlier one of the same machine",
		Long: "Compares what both measured, cell by cell: the ratio AFTER / BEFORE with a 95 % interval (Welch on logarithms; the runs of two artifacts " +
			"share no block). The bad direction is the metric's own. Exit 1 only when an interval excludes the tolerance in that direction and Holm's " +
			"correction over all comparisons shown agrees; 5 when one is undecided; artifacts of another machine, runtime or placement are refused, and so is a cell with other " +
			"counts, link backend, workers or buffers. The machine itself drifts: cells whose driver is the same file show by how much.",
		Example: "  bench compare artifacts/before artifacts/after\n  bench compare --tolerance 0.1 before after",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s: want two artifact folders, got %d; see %s --help", called(cmd), len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if tolerance < 0 || math.IsNaN(tolerance) || tolerance > 10 {
				return usage("--tolerance %v: want a share such as 0.05", tolerance)
			}
			ds, err := compare(args[0], args[1], tolerance)
			if err != nil {
				return fail(ExitUsage, err)
			}
			return printDeltas(cmd.OutOrStdout(), ds, tolerance, asJSON)
		},
	}
	cmd.Flags().Float64Var(&tolerance, "tolerance", 0.05, "worse by up to this `share` is no regression")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func compare(before, after string, tolerance float64) ([]summary.Delta, error) {
	a, sa, err := loadSummary(before)
	if err != nil {
		return nil, err
	}
	b, sb, err := loadSummary(after)
	if err != nil {
		return nil, err
	}
	ds, err := summary.Compare(a, b, sa, sb, tolerance)
	if err != nil {
		return nil, fmt.Errorf("compare %s and %s: %w", before, after, err)
	}
	return ds, nil
}

func loadSummary(dir string) (*artifacts.Artifact, *summary.Summary, error) {
	if err := artifactFolder(dir); err != nil {
		return nil, nil, err
	}
	a, err := artifacts.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	s, err := summarize(a)
	return a, s, err
}

// deltaDoc is one line of the JSON answer.
type deltaDoc struct {
	Profile    string      `json:"profile"`
	Variant    string      `json:"variant"`
	Metric     string      `json:"metric"`
	N          [2]int      `json:"n"`
	Ratio      *float64    `json:"ratio"` // after / before; null: none
	Interval   *[2]float64 `json:"interval_95"`
	Verdict    string      `json:"verdict"`
	Reason     string      `json:"reason,omitempty"`
	SameDriver bool        `json:"same_driver"`
}

func printDeltas(w io.Writer, ds []summary.Delta, tolerance float64, asJSON bool) error {
	count := map[string]int{}
	for _, d := range ds {
		count[d.Verdict]++
	}
	if asJSON {
		if err := deltasJSON(w, ds, tolerance); err != nil {
			return err
		}
	} else {
		deltasText(w, ds)
		fmt.Fprintf(w, "%d comparisons at a tolerance of %v: %d ok, %d regressions, %d undecided\n", len(ds), tolerance, count[summary.VerdictOK],
			count[summary.VerdictRegression], count[summary.VerdictUndecided])
	}
	switch {
	case count[summary.VerdictRegression] > 0:
		return fail(ExitNo, fmt.Errorf("%d regressions", count[summary.VerdictRegression]))
	case count[summary.VerdictUndecided] > 0:
		return fail(ExitUndecided, fmt.Errorf("%d of %d comparisons undecided: more runs would tell", count[summary.VerdictUndecided], len(ds)))
	}
	return nil
}

func deltasText(w io.Writer, ds []summary.Delta) {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "cell\tmetric\truns\tafter/before\t95 % interval\tverdict\t")
	for _, d := range ds {
		ratio, interval := "-", "-"
		if !math.IsNaN(d.Ratio) {
			ratio = fmt.Sprintf("%.3f", d.Ratio)
		}
		if !math.IsNaN(d.Lo) {
			interval = fmt.Sprintf("[%.3f, %.3f]", d.Lo, d.Hi)
		}
		fmt.Fprintf(tw, "%s/%s\t%s\t%d, %d\t%s\t%s\t%s\t%s\n", d.Cell.Profile, d.Cell.Variant, d.Metric.Name, d.Before.N, d.After.N, ratio, interval, d.Verdict, d.Reason)
	}
	_ = tw.Flush() // the error comes again with the last line
	if least, greatest, n := summary.Drift(ds, summary.Throughput); n > 0 {
		fmt.Fprintf(w, "drift: the throughput of %d cells whose driver is the same file moved by %.3f to %.3f\n", n, least, greatest)
	}
}

func deltasJSON(w io.Writer, ds []summary.Delta, tolerance float64) error {
	docs := []deltaDoc{}
	for _, d := range ds {
		doc := deltaDoc{Profile: d.Cell.Profile, Variant: d.Cell.Variant, Metric: d.Metric.Name, N: [2]int{d.Before.N, d.After.N}, Verdict: d.Verdict, Reason: d.Reason, SameDriver: d.SameDriver}
		if !math.IsNaN(d.Ratio) {
			doc.Ratio = &d.Ratio
		}
		if !math.IsNaN(d.Lo) {
			doc.Interval = &[2]float64{d.Lo, d.Hi}
		}
		docs = append(docs, doc)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{"tolerance": tolerance, "comparisons": docs})
}
