package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transportbench/analysis/replication"
	"transportbench/analysis/report"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// replica is a replication about to be measured.
type replica struct {
	selection
	plan     *matrix.Plan
	unpinned bool
	runtime  string // of the original; empty: not known
	of       artifacts.Replicates
	ladder   []byte
}

// named is what the manifest says; nil for a run that replicates nothing.
func (r *replica) named() *artifacts.Replicates {
	if r == nil {
		return nil
	}
	return &r.of
}

func (r *replica) bytes() []byte {
	if r == nil {
		return nil
	}
	return r.ladder
}

// measureFunc measures a replication and returns its folder, which may be incomplete when there is an error.
type measureFunc func(*cobra.Command, *replica) (dir string, err error)

// replicateFlags are the flags of bench replicate that exist everywhere.
type replicateFlags struct {
	selection
	claims  []string
	dry     bool
	judge   string
	json    bool
	measure measureFunc
}

// newReplicate takes how this system measures, nil where it cannot.
func newReplicate(flags func(*pflag.FlagSet), measure measureFunc) *cobra.Command {
	f := replicateFlags{measure: measure}
	cmd := &cobra.Command{
		Use:   "replicate REF",
		Short: "Measure again what an artifact measured, and tell whether its claims hold here",
		Long: "REF is the folder of an artifact, a published one (oci://... or oci-layout:...), or the word reference: the tables printed on 12 October 2026. " +
			"The same plan runs again, or with --claim only the cells that a statement needs, with the runs that the power formula asks for. " +
			"What must be shown is written into replication.json and hashed before the first run: 1. identity (plan and digests; decides nothing), " +
			"2. order (every order that the original claims), 3. magnitude (equal within a margin on a machine of the same class; elsewhere an effect with " +
			"its interval, never refuted). Exit 0 when every order is confirmed and nothing differs, 1 when an order or a magnitude is shown to be " +
			"different, 5 when an order stays undecided. --judge gives the verdict of a finished replication again; with REF it also checks that REF asks just that.",
		Example: "  bench replicate reference --claim small-messages-batch\n  bench replicate oci://ghcr.io/me/results:published-20261130T120000Z-1a2b3c4 --dry-run\n" +
			"  bench replicate artifacts/published-20261130T120000Z-1a2b3c4\n  bench replicate --judge results/published-20261201T120000Z-1a2b3c4",
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&f.claims, "claim", nil, "replicate only the statement with this `id`; may be given again (--dry-run lists them)")
	fs.BoolVar(&f.dry, "dry-run", false, "print what would be asked, how many runs that takes and what they could show; measure nothing")
	fs.StringVar(&f.judge, "judge", "", "measure nothing: give the verdict on the replication in `folder` again")
	fs.BoolVar(&f.json, "json", false, "print one JSON object (tables go to stderr)")
	fs.StringVar(&f.matrix, "matrix", "published", "the .yaml file that the original was measured with, where it is not built in")
	fs.IntVar(&f.sel.Repetitions, "repetitions", 0, "repetitions of every profile (0: as in the original, or as the power formula asks for)")
	fs.StringArrayVar(&f.drivers, "driver", nil, "the driver `NAME=PATH` that the original was measured with, or one in place of it")
	if flags != nil {
		flags(fs)
	}
	return cmd
}

func (f *replicateFlags) run(cmd *cobra.Command, args []string) error {
	switch {
	case f.judge != "" && (f.dry || len(f.claims) > 0):
		return usage("--judge: excludes --dry-run and --claim; the replication says what was asked")
	case f.judge != "" && len(args) <= 1:
		return f.again(cmd, args)
	case len(args) != 1:
		return usage("replicate: want one artifact folder, oci:// reference or the word %s, got %d; see %s --help", publishedWord, len(args), cmd.CommandPath())
	}
	o, err := openOriginal(cmd, args[0])
	if err != nil {
		return err
	}
	r, l, err := f.prepare(cmd, o)
	switch {
	case err != nil:
		return err
	case f.dry:
		return f.preview(cmd.OutOrStdout(), o, r, l)
	case f.measure == nil:
		return fail(ExitEnvironment, errors.New("replicate: measures on Linux only; --dry-run and --judge work here"))
	}
	return f.carryOut(cmd, r)
}

// prepare fixes what is asked and what is run.
func (f *replicateFlags) prepare(cmd *cobra.Command, o *original) (*replica, *replication.Ladder, error) {
	l, err := o.ladder(f.claims)
	if err != nil {
		return nil, nil, err
	}
	r := &replica{selection: f.selection}
	if err := o.selection(l, &r.selection, cmd.Flags().Changed); err != nil {
		return nil, nil, err
	}
	if r.plan, err = r.selection.plan(); err != nil {
		return nil, nil, err
	}
	if o.a != nil {
		r.runtime, r.unpinned = o.a.Manifest.Runtime, o.unpinned()
	}
	r.of = artifacts.Replicates{ID: l.Original.ID, Kind: l.Original.Kind, SHA256: l.Original.SHA256, Reference: l.Original.Reference}
	r.ladder, r.of.Ladder, err = l.Encode()
	return r, l, err
}

// carryOut measures, then judges what is complete. A run that failed or an interrupt keeps its own exit code.
func (f *replicateFlags) carryOut(cmd *cobra.Command, r *replica) error {
	out := cmd.OutOrStdout()
	if f.json {
		cmd.SetOut(cmd.ErrOrStderr())
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "bench: replication.json, fixed before the first run, is %s\n", r.of.Ladder)
	dir, err := f.measure(cmd, r)
	m, unread := artifacts.ReadManifest(dir)
	if dir == "" || unread != nil || m.Head == "" {
		return err
	}
	verdict := f.verdict(out, cmd.ErrOrStderr(), dir)
	if err != nil {
		return err
	}
	return verdict
}

// again judges a finished replication, and with an original also whether that asks the same.
func (f *replicateFlags) again(cmd *cobra.Command, args []string) error {
	if err := artifactFolder(f.judge); err != nil {
		return err
	}
	if len(args) == 1 {
		if err := f.sameQuestion(cmd, args[0]); err != nil {
			return err
		}
	}
	return f.verdict(cmd.OutOrStdout(), cmd.ErrOrStderr(), f.judge)
}

// sameQuestion makes the ladder again from the original and compares bytes.
func (f *replicateFlags) sameQuestion(cmd *cobra.Command, name string) error {
	a, err := artifacts.Load(f.judge)
	if err != nil {
		return fail(ExitUsage, err)
	}
	was, err := ladderOf(a)
	if err != nil {
		return err
	}
	o, err := openOriginal(cmd, name)
	if err != nil {
		return err
	}
	l, err := o.ladder(was.Claims)
	if err != nil {
		return err
	}
	l.Repetitions, l.Original.Reference = was.Repetitions, was.Original.Reference // how many and from where is the replicator's choice
	b, _, err := l.Encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(b, a.Ladder) {
		return fail(ExitNo, fmt.Errorf("%s: its replication.json is not what %s asks: %s", f.judge, o.id(), firstDifference(b, a.Ladder)))
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "bench: replication.json is what %s asks\n", o.id())
	return err
}

// verdict verifies the artifact in dir, judges it, prints and turns the answer into an exit code.
func (f *replicateFlags) verdict(w, errs io.Writer, dir string) error {
	v, err := verify(dir)
	if err != nil {
		return err
	}
	if !v.Intact {
		return fail(ExitNo, fmt.Errorf("%s: bench verify has %d findings: it is not judged", dir, v.Failures()))
	}
	a, s, err := loadSummary(dir)
	if err != nil {
		return fail(ExitUsage, err)
	}
	answer, err := judgement(a, s)
	if err != nil {
		return err
	}
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		err = e.Encode(answer)
	} else {
		err = report.Replication(w, answer, false)
	}
	fmt.Fprintf(errs, "bench: %s: verified, %d files, %d findings\n", dir, v.Files, v.Failures())
	return errors.Join(err, exitOfVerdict(answer))
}

func exitOfVerdict(v *replication.Verdict) error {
	switch v.Overall {
	case replication.Different:
		return fail(ExitNo, errors.New(v.String()))
	case replication.Undecided:
		return fail(ExitUndecided, errors.New(v.String()))
	}
	return nil
}

func ladderOf(a *artifacts.Artifact) (*replication.Ladder, error) {
	if a.Ladder == nil {
		return nil, usage("%s: replicates nothing; bench replicate measures what does", a.Manifest.ID)
	}
	l, err := replication.Decode(a.Ladder)
	return l, fail(ExitUsage, err)
}

func judgement(a *artifacts.Artifact, s *summary.Summary) (*replication.Verdict, error) {
	l, err := ladderOf(a)
	if err != nil {
		return nil, err
	}
	v, err := replication.Judge(l, a, s)
	return v, fail(ExitUsage, err)
}

// preview prints what would be asked.
func (f *replicateFlags) preview(w io.Writer, o *original, r *replica, l *replication.Ladder) error {
	could, all := l.Reach()
	minutes, timed := o.minutes(r.plan)
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(map[string]any{"original": l.Original.ID, "plan_hash": r.plan.Hash, "runs": len(r.plan.Runs), "repetitions": l.Repetitions, "minutes": minutes, "runs_timed": timed,
			"orders": l.Orders, "magnitudes": all, "magnitudes_in_reach": could, "left_out": l.Left, "ladder_sha256": r.of.Ladder})
	}
	for _, o := range l.Orders {
		fmt.Fprintf(w, "%s\t%s > %s\t%s\t%s\t%.3f\n", o.Claim, o.Greater, o.Less, o.Metric, o.Profile, float64(o.Ratio))
	}
	for _, text := range l.Left {
		fmt.Fprintf(w, "not asked: %s\n", text)
	}
	fmt.Fprintf(w, "replicates %s: %d orders, %d magnitudes (%d of them scatter so little that as many runs could show them to be equal)\n", l.Original.ID, len(l.Orders), all, could)
	fmt.Fprintf(w, "%d runs", len(r.plan.Runs))
	if timed > 0 {
		fmt.Fprintf(w, ", about %.1f minutes for the %d of them that the original timed", minutes, timed)
	}
	_, err := fmt.Fprintf(w, "\nreplication.json is %s\n", r.of.Ladder)
	return err
}

// minutes sums what the original's runs of the same cells took; timed counts the runs that are known.
func (o *original) minutes(p *matrix.Plan) (minutes float64, timed int) {
	if o.a == nil {
		return 0, 0
	}
	sum, n := map[matrix.Cell]float64{}, map[matrix.Cell]float64{}
	for _, r := range o.a.Last() {
		c := matrix.Cell{Profile: r.Profile.ID, Variant: r.Variant.Name}
		sum[c] += float64(r.WallNS) / 60e9
		n[c]++
	}
	for _, r := range p.Runs {
		if c := (matrix.Cell{Profile: r.Profile.ID, Variant: r.Variant.Name}); n[c] > 0 {
			minutes += sum[c] / n[c]
			timed++
		}
	}
	return minutes, timed
}
