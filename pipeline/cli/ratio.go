package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"transportbench/analysis/stats"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

// ratioFlags choose what is shown; every profile of the artifact is tested all the same, because the correction is over all.
type ratioFlags struct {
	profiles, metrics []string
	all, json         bool
}

func newRatio() *cobra.Command {
	var f ratioFlags
	cmd := &cobra.Command{
		Use:   "ratio ARTIFACT",
		Short: "Compare the columns of an artifact: ratios with intervals and what may be claimed",
		Long: "Columns are compared inside blocks, on log ratios. Each line has the ratio, its 95 % interval (of this comparison alone) and the " +
			"interval that holds for all pairs of the profile. Intervals rest on a model: moderated paired t (Smyth 2004). faster, slower, more and less are claims: " +
			"the profile passed its gate (permutation test and least simultaneous p, Holm over profiles) and the pair passed Holm-Shaffer and the simultaneous " +
			"interval. unconfirmed: the interval excludes 1 before that correction only. equal: within the margin by two one-sided tests. =: not distinguished.",
		Example: "  bench ratio results/quick-20261130T120000Z-1a2b3c4\n  bench ratio artifacts/quick --profile single-800B-1c-l0-d0 --metric throughput",
		Args:    oneArg("artifact folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.OutOrStdout(), args[0])
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.profiles, "profile", nil, "show these profiles by `id`")
	fs.StringSliceVar(&f.metrics, "metric", []string{summary.Throughput, summary.SparseP50, summary.LoadedP50},
		"metrics by `name`, or all: "+strings.Join(summary.RatioMetrics(), ", "))
	fs.BoolVar(&f.all, "all", false, "show exploratory comparisons too, not only the primary ones")
	fs.BoolVar(&f.json, "json", false, "print every comparison as JSON")
	return cmd
}

func (f *ratioFlags) run(w io.Writer, dir string) error {
	art, s, err := openSummary(dir)
	if err != nil {
		return err
	}
	if slices.Contains(f.metrics, "all") {
		f.metrics = summary.RatioMetrics()
	}
	for _, id := range f.profiles {
		if _, err := s.Profile(id); err != nil {
			return usage("--profile: %w; bench analyze %s lists the profiles", err, dir)
		}
	}
	var shown []summary.RatioProfile
	for _, metric := range f.metrics {
		profiles, err := summary.Ratios(art, s, metric)
		if err != nil {
			return usage("--metric: %w", err)
		}
		for _, p := range profiles {
			if len(f.profiles) == 0 || slices.Contains(f.profiles, p.Profile) {
				shown = append(shown, p)
			}
		}
	}
	if f.json {
		return summary.WriteRatios(w, shown)
	}
	if len(shown) == 0 {
		return fail(ExitUndecided, fmt.Errorf("%s: no profile has a number for %s", dir, strings.Join(f.metrics, ", ")))
	}
	return f.print(w, shown)
}

// openSummary loads an artifact and its rows.
func openSummary(dir string) (*artifacts.Artifact, *summary.Summary, error) {
	if err := artifactFolder(dir); err != nil {
		return nil, nil, err
	}
	art, err := artifacts.Load(dir)
	if err != nil {
		return nil, nil, fail(ExitUsage, err)
	}
	s, err := summarize(art)
	return art, s, fail(ExitUsage, err)
}

func (f *ratioFlags) print(w io.Writer, profiles []summary.RatioProfile) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range profiles {
		class := "lossless"
		if p.Lossy {
			class = "lossy"
		}
		fmt.Fprintf(tw, "\n%s, %s, %s, %d columns, %d blocks; gate p %s (Holm over profiles %s)\n", p.Profile, p.Metric, class, p.Columns, p.Blocks, pValue(p.Gate), pValue(p.Adjusted))
		if p.Blocks < 6 {
			fmt.Fprintf(tw, "  fewer than 6 runs: ranges; the range of %d runs holds the median with %.3g %%\n", p.Blocks, 100*stats.MedianCoverage(p.Blocks))
		}
		fmt.Fprintln(tw, "  ratio\tn\teffect [95 % of this one]\t[95 % of all]\tover blocks\tp adj.\tverdict")
		f.lines(tw, p)
	}
	return tw.Flush()
}

// lines prints the comparisons of a profile and, once, what is said of its columns.
func (f *ratioFlags) lines(w io.Writer, p summary.RatioProfile) {
	hidden, labels := 0, []string(nil)
	for _, r := range p.Ratios {
		if r.Role == summary.RoleExploratory && !f.all {
			hidden++
			continue
		}
		fmt.Fprintf(w, "  %s / %s\t%d\t%s [%s, %s]\t[%s, %s]\t%s to %s\t%s\t%s\n", r.Num, r.Den, r.N, factor(r.Effect), factor(r.Lo), factor(r.Hi),
			factor(r.AllLo), factor(r.AllHi), factor(r.Least), factor(r.Greatest), pValue(r.Adjusted), verdictText(r))
		for _, l := range r.Flags {
			if columnLabel(l) && !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
	}
	if hidden > 0 {
		fmt.Fprintf(w, "  %d exploratory comparisons: --all\n", hidden)
	}
	if len(labels) > 0 {
		fmt.Fprintf(w, "  labels: %s\n", strings.Join(labels, ", "))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
}

// columnLabel says that a flag is true of a column or of the machine, not of one comparison.
func columnLabel(flag string) bool {
	return flag == "placement reduced" || strings.Contains(flag, ": ")
}

// verdictText is the verdict with what would decide it and every flag.
func verdictText(r summary.Ratio) string {
	text := r.Verdict
	switch {
	case r.Equal:
		text += fmt.Sprintf(" (within %.0f %%)", 100*r.Margin)
	case r.Needed > 0:
		text += fmt.Sprintf("; equality within %.0f %% not decidable with %d runs (needs about %d)", 100*r.Margin, r.N, r.Needed)
	}
	if r.Role != summary.RolePrimary {
		text += "; " + r.Role
	}
	if r.Bimodal {
		text += "; bimodal, no mean ratio: median and its order-statistic interval"
	}
	for _, l := range r.Flags {
		if !columnLabel(l) {
			text += "; " + l
		}
	}
	return text
}

// factor prints a ratio with three digits; a dash where there is none.
func factor(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.3g", x)
}

func pValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "-"
	case p < 0.0001:
		return "< 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}
