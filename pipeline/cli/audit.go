package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/artifacts/reference"
)

func newAudit() *cobra.Command {
	var show findingFlags
	cmd := &cobra.Command{
		Use:   "audit FOLDER",
		Short: "Hold the numbers of an artifact or of published tables against what cannot be otherwise",
		Long: "Little's law, the ceiling of window and delay, bytes and counts, order of quantiles and ranges, RSS against retained RTTs, bench's own " +
			"clock and the namespace's counters, losses against the binomial distribution, datagram rates against raw UDP, failed runs. Works on our artifacts and on " +
			"artifacts/reference/2026-10-12, where tables allow fewer rules. Names the folder, or any file in it.",
		Example: "  bench audit artifacts/reference/2026-10-12\n  bench audit --notes results/quick-20261130T120000Z-1a2b3c4\n  bench audit --json artifacts/quick",
		Args:    oneArg("folder or file of an artifact"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := audit(args[0])
			if err != nil {
				return fail(ExitUsage, err)
			}
			return show.print(cmd.OutOrStdout(), v)
		},
	}
	show.add(cmd.Flags())
	return cmd
}

func audit(path string) (verdict, error) {
	v := verdict{Artifact: path, Audit: summary.NewAudit()}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		path = filepath.Dir(path)
	}
	if reference.IsReference(path) {
		return auditPublished(v, path)
	}
	if err := artifactFolder(path); err != nil {
		return v, err
	}
	a, err := artifacts.Load(path)
	if err != nil {
		return v, err
	}
	s, err := summarize(a)
	if err != nil {
		return v, err
	}
	if err := summary.AuditPlan(v.Audit, a); err != nil {
		return v, err
	}
	summary.AuditRuns(v.Audit, a)
	spread := summary.NewSpread(s.Ranges())
	v.Files, v.Spread = 3, &spread // manifest, plan and journal
	return v.close(), nil
}

func auditPublished(v verdict, dir string) (verdict, error) {
	ref, err := reference.Load(dir)
	if err != nil {
		return v, err
	}
	summary.AuditReference(v.Audit, ref)
	cells, err := summary.ReferenceRanges(ref)
	if err != nil {
		return v, err
	}
	spread := summary.NewSpread(cells)
	v.Files, v.Spread = 3, &spread // manifest, cells and claims
	return v.close(), nil
}
