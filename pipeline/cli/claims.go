package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/artifacts/reference"
)

func newClaims() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "claims ARTIFACT",
		Short: "Test the statements published on 12 October 2026 on an artifact",
		Long: "Each statement is derived again from the numbers it cites, then tested on the artifact by the moderated t within blocks, with Holm's " +
			"correction over all pairs: holds, fails, not decidable, or holds but across API modes (a batch column against another transport's plain column). " +
			"The published RakNet columns are the Rust library; ours are Go. With a reference folder as ARTIFACT only the printed numbers are looked at. " +
			"Exit 1 when one fails, 5 when one is not decidable.",
		Example: "  bench claims artifacts/published\n  bench claims artifacts/reference/2026-10-12",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, results, err := claims(args[0])
			if err != nil {
				return fail(ExitUsage, err)
			}
			return printClaims(cmd.OutOrStdout(), ref, results, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func claims(dir string) (*reference.Reference, []summary.ClaimResult, error) {
	var a *artifacts.Artifact
	var s *summary.Summary
	ref, err := reference.Published()
	switch {
	case err != nil:
		return nil, nil, err
	case reference.IsReference(dir):
		ref, err = reference.Load(dir)
	default:
		a, s, err = loadSummary(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	results, err := summary.Claims(ref, a, s)
	return ref, results, err
}

func printClaims(w io.Writer, ref *reference.Reference, rs []summary.ClaimResult, asJSON bool) error {
	count := map[string]int{}
	for _, r := range rs {
		count[r.Verdict]++
	}
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		if err := e.Encode(map[string]any{"reference": ref.Manifest.ID, "label": ref.Manifest.Label, "claims": rs}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(w, "%s\n", ref.Manifest.Label)
		for _, r := range rs {
			claimText(w, r)
		}
	}
	switch {
	case count[summary.ClaimFails] > 0:
		return fail(ExitNo, fmt.Errorf("%d of %d statements fail", count[summary.ClaimFails], len(rs)))
	case count[summary.ClaimUndecided] > 0:
		return fail(ExitUndecided, fmt.Errorf("%d of %d statements are not decidable", count[summary.ClaimUndecided], len(rs)))
	}
	return nil
}

func claimText(w io.Writer, r summary.ClaimResult) {
	fmt.Fprintf(w, "\n%s: %s\n  %s\n", r.ID, r.Verdict, r.Text)
	for _, p := range r.Printed {
		fmt.Fprintf(w, "  printed otherwise: %s\n", p)
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	for _, p := range r.Pairs {
		ratio := "-"
		if p.Ratio != nil {
			ratio = fmt.Sprintf("%.3g [%.3g, %.3g]", float64(*p.Ratio), float64(*p.Lo), float64(*p.Hi))
		}
		fmt.Fprintf(tw, "  %s\t%s > %s\tpublished %s\there %s\t%s\t%s\n", p.Metric, p.Greater, p.Less, p.Published, ratio, p.Verdict, oneLine(p.Reason))
	}
	_ = tw.Flush() // nothing to add to a broken pipe
}
