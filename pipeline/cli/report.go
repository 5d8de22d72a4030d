package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"transportbench/analysis/report"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

func newReport() *cobra.Command {
	var png bool
	cmd := &cobra.Command{
		Use:   "report ARTIFACT",
		Short: "Write report.html and plots/ of an artifact: one offline page and one picture a suite",
		Long: "report.html is one file: it opens from disk without a network, needs no JavaScript and loads nothing. It and plots/ are derived " +
			"from manifest.json, plan.tsv and runs.ndjson alone and byte-identical on every machine.\n\n" + exitHelp,
		Example: "  bench report results/quick-20261130T120000Z-1a2b3c4\n  bench report --png artifacts/quick",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := artifactFolder(args[0]); err != nil {
				return err
			}
			files, err := writeReport(args[0], png)
			if err != nil {
				return err
			}
			for _, f := range files {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\t%d bytes\n", filepath.Join(args[0], filepath.FromSlash(f.name)), len(f.data))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&png, "png", false, "write the plots as PNG too")
	return cmd
}

func writeReport(dir string, png bool) ([]derivedFile, error) {
	a, err := artifacts.Load(dir)
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	s, err := summarize(a)
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	files, err := derivedFiles(a, s, png)
	if err != nil {
		return nil, err
	}
	return files, fail(ExitEnvironment, addDerived(dir, files))
}

// derivedFiles renders what a person opens: report.html and plots/. Whoever rewrites or checks every derived file appends these.
func derivedFiles(a *artifacts.Artifact, s *summary.Summary, png bool) ([]derivedFile, error) {
	in := report.Input{Artifact: a, Summary: s, Rerun: func(runID string) string { return rerunCommand(a.Manifest, runID) }}
	for _, metric := range []string{summary.Throughput, summary.SparseP50, summary.LoadedP50} {
		ratios, err := summary.Ratios(a, s, metric)
		if err != nil {
			return nil, err
		}
		in.Ratios = append(in.Ratios, ratios...)
	}
	var html bytes.Buffer
	if err := report.HTML(&html, in); err != nil {
		return nil, err
	}
	files := []derivedFile{{"report.html", html.Bytes()}}
	formats := []string{"svg"}
	if png {
		formats = append(formats, "png")
	}
	for _, format := range formats {
		plots, err := report.Plots(s, format)
		if err != nil {
			return nil, err
		}
		for _, p := range plots {
			files = append(files, derivedFile{"plots/" + p.Name, p.Data})
		}
	}
	return files, nil
}

// rerunCommand measures the cell of a run again with the selection of its artifact: the columns of a block are measured together, so
// a cell alone tells whether a number comes back, not how columns compare.
func rerunCommand(m artifacts.Manifest, runID string) string {
	part := strings.Split(runID, "/")
	if len(part) != 3 {
		return ""
	}
	words := []string{"bench", "run"}
	for _, o := range m.Options {
		if !strings.HasPrefix(o, "--only=") {
			words = append(words, quote(o))
		}
	}
	return strings.Join(append(words, quote("--only=profile="+part[0]+",variant="+part[1])), " ")
}

// quote makes a word safe to paste into a POSIX shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=.,:/@+%", r)
	}
	if word != "" && !slices.ContainsFunc([]rune(word), func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
