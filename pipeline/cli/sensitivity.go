package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/analysis/summary"
)

func newSensitivity() *cobra.Command {
	var metrics []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sensitivity ARTIFACT",
		Short: "List conclusions that flip under other defensible choices of analysis",
		Long: "Tries the ratio of medians, means, least and greatest runs in place of the mean log ratio, no correction for many comparisons, and " +
			"percentiles by linear interpolation from the raw samples. Each line has the printed and the other value.",
		Example: "  bench sensitivity results/quick-20261130T120000Z-1a2b3c4\n  bench sensitivity artifacts/quick --metric throughput",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			art, s, err := openSummary(args[0])
			if err != nil {
				return err
			}
			if slices.Contains(metrics, "all") {
				metrics = summary.RatioMetrics()
			}
			found, err := summary.Sensitivities(art, s, metrics)
			if err != nil {
				return usage("--metric: %w", err)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			return printSensitivity(cmd.OutOrStdout(), found)
		},
	}
	cmd.Flags().StringSliceVar(&metrics, "metric", []string{summary.Throughput, summary.SparseP50, summary.SparseP99, summary.LoadedP50, summary.LoadedP99},
		"metrics by `name`, or all: "+strings.Join(summary.RatioMetrics(), ", "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printSensitivity(w io.Writer, s *summary.Sensitivity) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, claimed := range []bool{true, false} {
		what, n := "claims that flip", 0
		if !claimed {
			what = "orders that flip and that we do not claim"
		}
		fmt.Fprintf(tw, "%s:\n", what)
		for _, f := range s.Flips {
			if f.Claimed == claimed {
				fmt.Fprintf(tw, "  %s\t%s\t%s / %s\t%s (%s)\t%s: %s (%s)\n", f.Profile, f.Metric, f.Num, f.Den, factor(f.Base), f.BaseVerdict, f.Choice, factor(f.Other), f.OtherVerdict)
				n++
			}
		}
		if n == 0 {
			fmt.Fprintln(tw, "  none")
		}
	}
	for _, n := range s.Notes {
		fmt.Fprintf(tw, "note: %s\n", n)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, choice := range slices.Sorted(maps.Keys(s.Tried)) {
		flips := 0
		for _, f := range s.Flips {
			if f.Choice == choice {
				flips++
			}
		}
		fmt.Fprintf(w, "%s: %d of %d comparisons flip\n", choice, flips, s.Tried[choice])
	}
	return nil
}
