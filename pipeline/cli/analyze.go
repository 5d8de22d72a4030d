package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"transportbench/analysis/report"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

func newAnalyze() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:     "analyze ARTIFACT",
		Short:   "Derive summary.tsv and the tables of an artifact again and print them",
		Long:    "Everything derived comes from manifest.json, plan.tsv and runs.ndjson alone and is byte-identical on every machine.",
		Example: "  bench analyze results/quick-20261130T120000Z-1a2b3c4\n  bench analyze --quiet artifacts/quick",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if quiet {
				out = io.Discard
			}
			if err := artifactFolder(args[0]); err != nil {
				return err
			}
			return derive(args[0], out)
		},
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "write the files and print nothing")
	return cmd
}

// derive rewrites the derived files of the artifact in dir and prints its terminal tables to w.
func derive(dir string, w io.Writer) error {
	a, err := artifacts.Load(dir)
	if err != nil {
		return fail(ExitUsage, err)
	}
	s, err := summarize(a)
	if err != nil {
		return fail(ExitUsage, err)
	}
	var tsv, md bytes.Buffer
	if err := s.WriteTSV(&tsv); err != nil {
		return err
	}
	if err := report.Markdown(&md, s, title(a.Manifest)); err != nil {
		return err
	}
	if err := writeDerived(dir, []derivedFile{{"summary.tsv", tsv.Bytes()}, {"tables/results.md", md.Bytes()}}); err != nil {
		return fail(ExitEnvironment, err)
	}
	return report.Terminal(w, s)
}

func summarize(a *artifacts.Artifact) (*summary.Summary, error) {
	ids := make([]string, len(a.Plan))
	for i, row := range a.Plan {
		ids[i] = row.RunID
	}
	return summary.Build(a.Manifest.Columns, ids, a.Records)
}

// title says in one line what a reader must know before the first number.
func title(m artifacts.Manifest) string {
	return fmt.Sprintf("%s (%s, runtime %s, placement: %s)", m.ID, m.Kind, m.Runtime, m.Placement.Label)
}

type derivedFile struct {
	name string
	data []byte
}

// writeDerived writes the files and DERIVED.SHA256SUMS, which names the analysis that made them.
func writeDerived(dir string, files []derivedFile) error {
	var sums bytes.Buffer
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("artifact %s: %w", dir, err)
		}
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return fmt.Errorf("artifact %s: %w", dir, err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.data), f.name)
	}
	return os.WriteFile(filepath.Join(dir, artifacts.DerivedSums), sums.Bytes(), 0o644)
}
