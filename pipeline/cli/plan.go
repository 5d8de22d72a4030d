package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newPlan() *cobra.Command {
	var s selection
	var asJSON, onlyHash bool
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print the runs of a matrix in the order in which they would be measured, one line a run",
		Long: "Columns, separated by tabs: index, block, run id, suite, payload (B), connections, messages, warmup, samples, window (per " +
			"connection), loss (ppm), one-way delay (ns), link backend, minimum RTO (ns), driver, api, policy, mtu, gso, listeners; in a " +
			"plan with further impairments also these, - for none.",
		Example: "  bench plan | wc -l\n  bench plan --only suite=single,loss=5 --extra udp,tcp-rto30\n  bench plan --matrix mine.yaml --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a run")
	cmd.Flags().BoolVar(&onlyHash, "hash", false, "print the plan's hash only")
	return cmd
}
