package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"transportbench/analysis/report"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

func newAnalyze() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "analyze ARTIFACT",
		Short: "Derive the summary, the tables and runs.bench of an artifact again and print the tables",
		Long: "Writes summary.tsv, summary.json, summary.csv, runs.bench (for benchstat) and tables/. " +
			"Everything derived comes from manifest.json, plan.tsv, runs.ndjson and the names in anchors/ alone and is byte-identical on every machine.",
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
	files, err := analysisFiles(a, s)
	if err != nil {
		return err
	}
	if err := addDerived(dir, files); err != nil {
		return fail(ExitEnvironment, err)
	}
	if err := report.Terminal(w, s); err != nil {
		return err
	}
	return agree(a)
}

// agree derives the percentiles again from the raw samples that are here: the journal's and the driver's must be the same.
func agree(a *artifacts.Artifact) error {
	into := summary.NewAudit()
	summary.AuditSamples(into, a)
	if n := into.Failures(); n > 0 {
		f := into.Findings[0]
		return fail(ExitNo, fmt.Errorf("%s: %s: expected %s, found %s; %d findings in all, see bench verify", f.Path, f.Rule, f.Expected, f.Found, n))
	}
	return nil
}

// analysisFiles renders what analyze writes: the same numbers for people, spreadsheets, programs and benchstat.
func analysisFiles(a *artifacts.Artifact, s *summary.Summary) ([]derivedFile, error) {
	var files []derivedFile
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"summary.tsv", s.WriteTSV},
		{"summary.json", func(w io.Writer) error { return s.WriteJSON(w, a) }},
		{"summary.csv", s.WriteCSV},
		{"runs.bench", func(w io.Writer) error { return summary.WriteBench(w, a) }},
		{"tables/results.md", func(w io.Writer) error { return report.Markdown(w, s, report.Title(a.Manifest)) }},
	} {
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		files = append(files, derivedFile{f.name, b.Bytes()})
	}
	if a.Ladder == nil {
		return files, nil
	}
	v, err := judgement(a, s)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := report.Replication(&b, v, true); err != nil {
		return nil, err
	}
	return append(files, derivedFile{"tables/replication.md", b.Bytes()}), nil
}

func summarize(a *artifacts.Artifact) (*summary.Summary, error) {
	ids := make([]string, len(a.Plan))
	for i, row := range a.Plan {
		ids[i] = row.RunID
	}
	s, err := summary.Build(a.Manifest.Columns, ids, a.Records)
	if err == nil {
		s.PlanStamped = slices.ContainsFunc(a.Anchors, func(x artifacts.Anchor) bool { return x.File != "" })
		s.PlanPushed = slices.ContainsFunc(a.Anchors, func(x artifacts.Anchor) bool { return x.Pushed != "" })
		s.JournalStamped = slices.Contains(a.Stamped, a.Lines)
	}
	return s, err
}

type derivedFile struct {
	name string
	data []byte
}
