package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newPlan() *cobra.Command {
	var s selection
	var asJSON, onlyHash, needs bool
	var from string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print the runs of a matrix in the order in which they would be measured, one line a run",
		Long: "Columns, separated by tabs: index, block, run id, suite, payload (B), connections, messages, warmup, samples, window (per " +
			"connection), loss (ppm), one-way delay (ns), link backend, minimum RTO (ns), driver, api, policy, mtu, gso, listeners; in a " +
			"plan with further impairments also these, - for none. --power prints what each statement published on 12 October 2026 needs " +
			"instead: runs of every cell for its closest pair (one-sided 5 %, 95 % power, corrected for its pairs) and minutes.",
		Example: "  bench plan | wc -l\n  bench plan --only suite=single,loss=5 --extra udp,tcp-rto30\n  bench plan --matrix mine.yaml --json\n  bench plan --power",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case needs:
				return power(cmd.OutOrStdout(), from, asJSON)
			case from != "":
				return usage("--from: needs --power")
			}
			p, err := s.plan()
			switch {
			case err != nil:
				return err
			case onlyHash:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), p.Hash)
				return err
			case asJSON:
				return p.WriteJSONL(cmd.OutOrStdout())
			}
			return p.WriteTSV(cmd.OutOrStdout())
		},
	}
	s.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a run, with --power one in all")
	cmd.Flags().BoolVar(&needs, "power", false, "print runs, minutes and the smallest visible effect of each published statement; selects nothing")
	cmd.Flags().StringVar(&from, "from", "", "with --power: take the time of a run from the full-size runs of the artifact in `folder`, else from the printed throughput (bursts alone)")
	cmd.Flags().BoolVar(&onlyHash, "hash", false, "print the plan's hash only")
	return cmd
}
