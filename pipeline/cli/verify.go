package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"transportbench/artifacts"
)

func newVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify ARTIFACT",
		Short: "Check an artifact's hashes, chain and plan",
		Long: "Recomputes every hash of SHA256SUMS, follows the hash chain of runs.ndjson and compares it with plan.tsv. Raw samples and logs " +
			"may be absent; their hashes are known.",
		Example: "  bench verify artifacts/quick\n  bench verify --json results/published-20261130T120000Z-1a2b3c4",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := artifactFolder(args[0]); err != nil {
				return err
			}
			rep, err := artifacts.Verify(args[0])
			if err != nil {
				return fail(ExitUsage, err)
			}
			return printReport(cmd, args[0], rep, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// verdict is the machine-readable answer of verify.
type verdict struct {
	Artifact string   `json:"artifact"`
	Intact   bool     `json:"intact"`
	Checked  int      `json:"checked"`
	Absent   int      `json:"absent"` // samples and logs that are not here but whose hash is known
	Findings []string `json:"findings"`
}

func printReport(cmd *cobra.Command, dir string, rep artifacts.Report, asJSON bool) error {
	v := verdict{Artifact: dir, Intact: len(rep.Findings) == 0, Checked: rep.Checked, Absent: len(rep.Absent), Findings: []string{}}
	for _, f := range rep.Findings {
		v.Findings = append(v.Findings, oneLine(f.Error()))
	}
	out := cmd.OutOrStdout()
	if asJSON {
		if err := json.NewEncoder(out).Encode(v); err != nil {
			return err
		}
	} else {
		for _, f := range v.Findings {
			fmt.Fprintf(out, "finding: %s\n", f)
		}
		fmt.Fprintf(out, "%s: %d files checked, %d absent (hash known), %d findings\n", dir, v.Checked, v.Absent, len(v.Findings))
	}
	if !v.Intact {
		return fail(ExitNo, fmt.Errorf("%s: %d findings", dir, len(v.Findings)))
	}
	return nil
}
