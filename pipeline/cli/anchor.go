package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"transportbench/artifacts"
	"transportbench/artifacts/anchor"
)

func newAnchor() *cobra.Command {
	var tsa string
	cmd := &cobra.Command{
		Use:   "anchor ARTIFACT",
		Short: "Let a time-stamping authority say when the journal's last line existed",
		Long: "Sends the hash of the last journal line, nothing else, to an RFC 3161 authority and stores its signed answer in anchors/. Together " +
			"with the time-stamp of the plan that bench run --tsa takes before the first run it bounds when the runs were made, by someone " +
			"other than their producer. bench verify checks both; --tsa-ca names the authorities that you trust.",
		Example: "  bench run --matrix quick --tsa https://freetsa.org/tsr\n  bench anchor results/quick-20261130T120000Z-1a2b3c4 --tsa https://freetsa.org/tsr",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := artifactFolder(args[0]); err != nil {
				return err
			}
			text, err := anchorJournal(cmd.Context(), args[0], tsa)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&tsa, "tsa", "", "`address` of the RFC 3161 authority")
	return cmd
}

// anchorJournal stores a time-stamp of the last journal line and makes a report that is there again, since it says who vouches for what.
func anchorJournal(ctx context.Context, dir, tsa string) (string, error) {
	a, err := artifacts.Load(dir)
	switch {
	case err != nil:
		return "", fail(ExitUsage, err)
	case a.Lines == 0:
		return "", usage("%s: its journal is empty; there is nothing to anchor", dir)
	case slices.Contains(a.Stamped, a.Lines):
		return "", usage("%s: the last line, %d, is anchored already", dir, a.Lines)
	}
	stamp, err := askStamp(ctx, tsa, a.Head)
	if err != nil {
		return "", err
	}
	name, err := artifacts.AddJournalAnchor(dir, a.Lines, *stamp)
	if err != nil {
		return "", fail(ExitEnvironment, err)
	}
	if err := refreshReport(dir); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: line %d existed at %s, says %q", name, a.Lines, stamp.Time.Format("2006-01-02T15:04:05Z"), stamp.Authority), nil
}

// askStamp asks the authority about a hash.
func askStamp(ctx context.Context, tsa, hash string) (*artifacts.Stamp, error) {
	if _, err := anchor.Host(tsa); err != nil {
		return nil, fail(ExitUsage, err)
	}
	answer, t, err := anchor.Stamp(ctx, tsa, hash)
	if err != nil {
		code := ExitEnvironment
		if errors.Is(err, context.Canceled) {
			code = ExitInterrupted
		}
		return nil, fail(code, err)
	}
	return &artifacts.Stamp{Answer: answer, Authority: t.Authority, Time: t.Time}, nil
}

// refreshReport makes tables and report.html again where they are.
func refreshReport(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, artifacts.DerivedSums)); err != nil {
		return nil // nothing is derived yet
	}
	if err := derive(dir, io.Discard); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, "report.html")); err != nil {
		return nil // there is none
	}
	plots, err := filepath.Glob(filepath.Join(dir, "plots", "*.png"))
	if err != nil {
		return fail(ExitEnvironment, err)
	}
	_, err = writeReport(dir, len(plots) > 0)
	return err
}
