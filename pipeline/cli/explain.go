package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

func newExplain() *cobra.Command {
	var dir, metric string
	cmd := &cobra.Command{
		Use:     "explain CELL --artifact DIR",
		Short:   "Show every run behind one number and how to measure it again",
		Long:    "CELL is <profile>/<variant>, as tables and run ids name it. Runs stand in order of time, every attempt.",
		Example: "  bench explain single-800B-1c-l0-d0/tcp --artifact results/quick-20261130T120000Z-1a2b3c4",
		Args:    oneArg("cell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			profile, variant, ok := strings.Cut(args[0], "/")
			if !ok || strings.Contains(variant, "/") {
				return usage("explain %q: want <profile>/<variant>, such as single-800B-1c-l0-d0/tcp", args[0])
			}
			if dir == "" {
				return usage("explain: --artifact is missing: name the folder that holds %s", args[0])
			}
			art, s, err := openSummary(dir)
			if err != nil {
				return err
			}
			e, err := summary.Explain(art, s, matrix.Cell{Profile: profile, Variant: variant}, metric)
			if err != nil {
				return usage("explain: %w; %s/summary.tsv lists cells and metrics", err, dir)
			}
			printExplanation(cmd.OutOrStdout(), e)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "artifact", "", "`folder` of the artifact")
	cmd.Flags().StringVar(&metric, "metric", "", "metric by `name` (default: what the suite is about)")
	return cmd
}

func printExplanation(w io.Writer, e *summary.Explanation) {
	fmt.Fprintf(w, "%s/%s, %s in %s\n", e.Cell.Profile, e.Cell.Variant, e.Metric.Name, e.Metric.Unit)
	for i, r := range e.Runs {
		printRun(w, r, i == e.Worst)
	}
	for _, id := range e.NotRun {
		fmt.Fprintf(w, "\n%s: not run\n", id)
	}
	if e.Share != "" {
		fmt.Fprintf(w, "\n%s\n", e.Share)
	}
	if e.Worst < 0 {
		return
	}
	worst := e.Runs[e.Worst].Record.RunID
	if len(e.Suspect) == 0 {
		fmt.Fprintf(w, "\nno disturbance was unusual in the worst run, %s\n", worst)
		return
	}
	fmt.Fprintf(w, "\nin the worst run, %s, more than in the others (a hint, no proof): %s\n", worst, strings.Join(e.Suspect, "; "))
}

func printRun(w io.Writer, r summary.ExplainedRun, worst bool) {
	rec := r.Record
	value, marks := "no number", []string{string(rec.Outcome)}
	if !math.IsNaN(r.Value) {
		value = summary.Format(r.Value)
	}
	if !r.Counted && rec.Outcome == artifacts.OutcomeOK {
		marks = append(marks, "replaced by a later attempt")
	}
	if worst {
		marks = append(marks, "worst")
	}
	fmt.Fprintf(w, "\n%s attempt %d  %s  %s  started %s\n", rec.RunID, rec.Attempt, value, strings.Join(marks, ", "), rec.Started.UTC().Format("2006-01-02 15:04:05Z"))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-10s %s\n", name, text)
		}
	}
	line("reason", rec.Reason)
	line("flags", strings.Join(rec.Flags, ", "))
	line("disturbed", disturbanceText(r.Disturbances))
	for _, text := range r.Samples {
		line("samples", text)
	}
	line("block", fmt.Sprintf("%d: after %s, before %s", rec.Block, orNone(r.Before), orNone(r.After)))
	line("probe", probeText(r.Probe))
	line("again", r.Command)
}

func orNone(id string) string {
	if id == "" {
		return "nothing"
	}
	return id
}

func disturbanceText(ds []summary.Disturbance) string {
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = fmt.Sprintf("%s %.3g %s", d.Name, d.Value, d.Unit)
	}
	return strings.Join(parts, ", ")
}

// probeText is the machine's own speed at the start of the block, in MiB/s of verified payload.
func probeText(p *artifacts.Probe) string {
	if p == nil {
		return "none: this matrix has no probe"
	}
	var parts []string
	for _, r := range p.Results {
		if r.Reason != "" || r.ElapsedNS <= 0 {
			parts = append(parts, r.Variant+": "+r.Reason)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %.1f MiB/s", r.Variant, float64(r.Bytes)/(1<<20)/(float64(r.ElapsedNS)/1e9)))
	}
	return strings.Join(parts, ", ")
}
