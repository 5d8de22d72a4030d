package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"transportbench/artifacts"
)

func newKeep() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "keep ARTIFACT",
		Short: "Copy an intact artifact without raw samples and logs into artifacts/ to commit it",
		Long: "The copy holds what git should: manifest, plan, runs, sums and derived files. Samples and logs stay behind; verify then " +
			"says that they are absent and that their hashes are known.",
		Example: "  bench keep results/quick-20261130T120000Z-1a2b3c4",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := keep(args[0], into)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), to)
			return err
		},
	}
	cmd.Flags().StringVar(&into, "into", "artifacts", "`folder` that receives the copy")
	return cmd
}

// keep verifies from, then copies what is light into a new folder of the artifact's id below into.
func keep(from, into string) (string, error) {
	if err := artifactFolder(from); err != nil {
		return "", err
	}
	rep, err := artifacts.Verify(from)
	if err != nil {
		return "", fail(ExitUsage, err)
	}
	if len(rep.Findings) > 0 {
		return "", fail(ExitNo, fmt.Errorf("%s is not intact: %w", from, rep.Findings[0]))
	}
	a, err := artifacts.Load(from)
	if err != nil {
		return "", fail(ExitUsage, err)
	}
	to := filepath.Join(into, a.Manifest.ID)
	if err := os.Mkdir(to, 0o755); err != nil {
		return "", fail(ExitUsage, fmt.Errorf("keep: %w (an artifact is never overwritten)", err))
	}
	return to, fail(ExitEnvironment, copyLight(from, to))
}

func copyLight(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := filepath.ToSlash(rel); name == artifacts.SamplesDir || name == artifacts.LogsDir || strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return os.Mkdir(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
}
