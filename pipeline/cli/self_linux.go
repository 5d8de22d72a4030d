package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/runner"
)

// budget is one cost of bench itself with what it may be.
type budget struct {
	Name     string `json:"name"`
	MedianNS int64  `json:"median_ns"`
	MaxNS    int64  `json:"max_ns"`
	BudgetNS int64  `json:"budget_ns"` // 0: a part of another line
	N        int    `json:"n"`
}

// selfSamples is the length of the RTT series of a loaded run (2^18 burst messages).
const selfSamples = 262_144

func newSelf() *cobra.Command {
	var f runFlags
	var n int
	var asJSON bool
	cmd := &cobra.Command{
		Use: "self", Short: "Report what bench itself costs: overhead per run, planning, loading, percentiles", Args: noArgs,
		Long: "Runs the smallest possible measurement n times and shows everything that is not connect, warmup, samples or burst. " +
			"A report, not a test: it exits 0 whatever the machine does.",
		Example: "  bench self\n  bench self --runs 50 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 1 || n > 1000 {
				return usage("runs %d: want 1 to 1000", n)
			}
			lines, err := measureSelf(cmd, &f, n)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(lines)
			}
			return printSelf(cmd.OutOrStdout(), lines)
		},
	}
	cmd.Flags().IntVar(&n, "runs", 20, "measurements")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.driversDir, "drivers", "", "look for drivers in this `folder` only")
	return cmd
}

func measureSelf(cmd *cobra.Command, f *runFlags, n int) ([]budget, error) {
	tmp, err := os.MkdirTemp("", "bench-self-")
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	defer os.RemoveAll(tmp)
	f.progress, f.out = "plain", filepath.Join(tmp, "artifact")
	cmd.SetErr(io.Discard) // its progress is nobody's news
	records, err := selfRuns(cmd, f, n)
	if err != nil {
		return nil, err
	}
	lines := overheads(records)
	for _, step := range []struct {
		name   string
		budget time.Duration
		do     func() error
	}{
		{"plan 623 runs", 200 * time.Millisecond, planPublished},
		{"load an artifact of 623 runs", 200 * time.Millisecond, loader(tmp, records[0])},
		{"sort and summarise 262,144 samples", 50 * time.Millisecond, percentiles},
	} {
		line, err := timed(step.name, step.budget, step.do)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// selfRuns measures the smallest run n times.
func selfRuns(cmd *cobra.Command, f *runFlags, n int) ([]artifacts.Record, error) {
	f.matrix, f.runtime = "published", runtimeLocal
	f.sel = matrix.Selection{Only: []string{"suite=single,loss=0,delay=0,payload=800,variant=tcp"}, Scale: 0.0001, Repetitions: n}
	plan, err := f.plan()
	if err != nil {
		return nil, err
	}
	plan.Probe = nil
	opt, err := f.options(cmd, plan)
	if err != nil {
		return nil, err
	}
	defer opt.Runtime.Close()
	if _, err := runner.Run(cmd.Context(), opt); err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	a, err := artifacts.Load(f.out)
	if err != nil {
		return nil, err
	}
	if len(a.Records) == 0 || a.Records[0].Outcome != artifacts.OutcomeOK {
		return nil, fail(ExitEnvironment, fmt.Errorf("self: the run did not end well: %s", a.Records[0].Reason))
	}
	return a.Records, nil
}

// overheads turns the phases of all runs into lines, the sum first.
func overheads(records []artifacts.Record) []budget {
	byPhase := map[string][]int64{}
	var sums []int64
	for _, r := range records {
		var sum int64
		for phase, ns := range r.OverheadNS {
			byPhase[phase] = append(byPhase[phase], ns)
			if phase != "connect" { // part of the measurement; shown beside the others
				sum += ns
			}
		}
		sums = append(sums, sum)
	}
	lines := []budget{line("overhead of a run", sums, 150*time.Millisecond)}
	var names []string
	for name := range byPhase {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		lines = append(lines, line("  "+name, byPhase[name], 0))
	}
	return lines
}

func line(name string, ns []int64, limit time.Duration) budget {
	_, most := stats.Range(ns)
	return budget{Name: name, MedianNS: int64(stats.Median(ns)), MaxNS: most, BudgetNS: limit.Nanoseconds(), N: len(ns)}
}

// timed repeats a step until the median means something.
func timed(name string, limit time.Duration, do func() error) (budget, error) {
	var ns []int64
	for range 7 {
		start := time.Now()
		if err := do(); err != nil {
			return budget{}, fmt.Errorf("%s: %w", name, err)
		}
		ns = append(ns, time.Since(start).Nanoseconds())
	}
	return line(name, ns, limit), nil
}

func planPublished() error {
	m, err := matrix.Builtin("published")
	if err != nil {
		return err
	}
	p, err := matrix.NewPlan(m, matrix.Selection{})
	if err != nil {
		return err
	}
	return p.WriteTSV(io.Discard)
}

// loader writes an artifact of the published plan whose runs all look like r, and returns what loads it.
func loader(tmp string, r artifacts.Record) func() error {
	dir := filepath.Join(tmp, "published")
	err := writeLike(dir, r)
	return func() error {
		if err != nil {
			return err
		}
		a, err := artifacts.Load(dir)
		if err != nil {
			return err
		}
		_, err = summarize(a)
		return err
	}
}

func writeLike(dir string, r artifacts.Record) error {
	m, err := matrix.Builtin("published")
	if err != nil {
		return err
	}
	p, err := matrix.NewPlan(m, matrix.Selection{})
	if err != nil {
		return err
	}
	var plan bytes.Buffer
	if err := p.WriteTSV(&plan); err != nil {
		return err
	}
	w, err := artifacts.Create(dir, artifacts.Manifest{ID: "self", Columns: p.Columns()}, plan.Bytes())
	if err != nil {
		return err
	}
	for _, run := range p.Runs {
		r.RunID, r.Index, r.Profile, r.Variant, r.Repetition = run.ID, run.Index, run.Profile, run.Variant, run.Repetition
		r.Block, r.Attempt, r.Series = run.Block, 1, slices.Clone(r.Series)
		for i := range r.Series {
			r.Series[i].File, r.Series[i].SHA256 = "", ""
		}
		r.Server.Log, r.Client.Log = "", ""
		if err := w.Append(&r); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

func percentiles() error {
	r := rand.New(rand.NewPCG(1, 2))
	xs := make([]int64, selfSamples)
	for i := range xs {
		xs[i] = r.Int64N(int64(time.Second))
	}
	slices.Sort(xs)
	stats.Quantiles(xs, stats.FixedP())
	return nil
}

func printSelf(out io.Writer, lines []budget) error {
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	fmt.Fprintln(w, "cost\tmedian\tmaximum\tbudget\tn")
	for _, l := range lines {
		limit := ""
		if l.BudgetNS > 0 {
			limit = time.Duration(l.BudgetNS).String()
			if l.MedianNS > l.BudgetNS {
				limit += " (over)"
			}
		}
		fmt.Fprintf(w, "%s\t%.1f ms\t%.1f ms\t%s\t%d\n", l.Name, float64(l.MedianNS)/1e6, float64(l.MaxNS)/1e6, limit, l.N)
	}
	return w.Flush()
}
