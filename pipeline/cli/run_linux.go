package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transportbench/artifacts"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/runner"
	"transportbench/pipeline/sandbox"
)

// runFlags are the flags of `bench run` beside the selection.
type runFlags struct {
	selection
	lockPath     string
	out, resume  string
	goOn, retry  bool
	driversDir   string
	runtime      string
	progress     string
	noWait       bool
	shared       bool
	unpinned     bool
	hostLabel    string
	withHostName bool
	replica      *replica // what is replicated; nil: nothing
	tsa          string
	pushPlan     string
	vm           machineFlags
	facts        string // inside a virtual machine: the file that describes it
}

// newRun takes the path of the lock that says whether this machine is measured on.
func newRun(lock string) *cobra.Command {
	f := runFlags{lockPath: lock}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure: execute a plan run by run into a new artifact, or resume one",
		Long: "Every run gets a private network, fresh processes and one line in runs.ndjson. A run that fails is recorded and the rest goes " +
			"on. Ctrl-C stops within two seconds and loses nothing: --resume goes on.",
		Example: "  bench run --matrix quick\n  bench run --only suite=single,loss=5 --extra udp,tcp-rto30\n" +
			"  bench run --driver mine=./mydriver --only variant=mine|tcp\n  bench run --resume results/published-20261130T120000Z-1a2b3c4",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.flags(cmd.Flags())
	fs := cmd.Flags()
	f.sessionFlags(fs)
	fs.StringVar(&f.resume, "resume", "", "go on with the artifact in `folder`: runs what has no line yet")
	fs.BoolVar(&f.goOn, "continue", false, "resume the newest unfinished artifact of the same plan in results/, else begin one")
	fs.BoolVar(&f.retry, "retry-failed", false, "with --resume: failed runs get another attempt")
	fs.BoolVar(&f.unpinned, "allow-unpinned", false, "measure the other KCP core that was built with drivers build --allow-unpinned, as column kcp-c@<core>")
	f.vm.flags(fs, "vm-")
	fs.StringVar(&f.facts, factsFlag, "", "")
	_ = fs.MarkHidden(factsFlag) // it exists: defined one line above
	return cmd
}

// sessionFlags say where and how is measured, whatever it is.
func (f *runFlags) sessionFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.out, "out", "", "new `folder` of the artifact (default results/<matrix>-<UTC>-<revision>)")
	fs.StringVar(&f.driversDir, "drivers", "", "look for drivers in this `folder` only")
	fs.StringVar(&f.runtime, "runtime", runtimeAuto, "where drivers run: local (rootless namespaces), docker (containers), vm (a virtual machine with the pinned kernel), or auto: docker where an engine answers, but for the matrix quick")
	fs.StringVar(&f.progress, "progress", "auto", "auto, bar, plain or json (on stdout)")
	fs.BoolVar(&f.noWait, "no-wait", false, "fail when another benchmark runs on this machine instead of waiting for it")
	fs.BoolVar(&f.shared, "shared", false, "measure beside another benchmark; every run is marked")
	fs.StringVar(&f.hostLabel, "host-label", "", "name of this machine in the artifact (default: a short hash)")
	fs.BoolVar(&f.withHostName, "with-host-name", false, "store the host name")
	f.tsaFlag(fs)
}

func (f *runFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := f.remember(cmd); err != nil {
		return err
	}
	if err := f.takeCores(); err != nil {
		return err
	}
	plan, err := f.planned()
	if err != nil {
		return err
	}
	release, shared, err := f.lock(cmd)
	if err != nil {
		return err
	}
	defer release()
	if f.runtime == runtimeVM {
		return f.runVM(cmd, plan, shared)
	}
	if dir := unfinished(resultsDir, plan); f.goOn && dir != "" {
		if m, err := artifacts.ReadManifest(dir); err == nil {
			f.sameRuntime(m.Runtime)
		}
	}
	opt, err := f.options(cmd, plan)
	if err != nil {
		return err
	}
	defer opt.Runtime.Close()
	opt.Shared = shared
	if err := f.insideVM(&opt); err != nil {
		return err
	}
	return f.measure(cmd, opt)
}

// planned is the plan, in which every bound driver has a place. Who goes on with an artifact, or repeats a part of one, names all of its drivers.
func (f *runFlags) planned() (*matrix.Plan, error) {
	plan, err := f.plan()
	if err == nil && f.resume == "" && f.replica == nil {
		err = f.unused(plan)
	}
	return plan, err
}

// measure executes the plan between the two time-stamps of an authority, where one is asked.
func (f *runFlags) measure(cmd *cobra.Command, opt runner.Options) (err error) {
	if opt.Stamp, err = f.stampPlan(cmd.Context(), opt); err != nil {
		return err
	}
	totals, err := runner.Run(cmd.Context(), opt)
	if err != nil {
		return fail(exitOf(err), f.advise(err))
	}
	return errors.Join(f.finish(cmd, totals), f.stampJournal(cmd, totals))
}

func (f *runFlags) check() error {
	switch {
	case !slices.Contains([]string{runtimeAuto, runtimeLocal, runtimeDocker, runtimeVM}, f.runtime):
		return usage("--runtime %q: want auto, local, docker or vm", f.runtime)
	case f.retry && f.resume == "":
		return usage("--retry-failed: needs --resume DIR")
	case f.resume != "" && (f.out != "" || f.goOn):
		return usage("--resume: excludes --out and --continue")
	case f.noWait && f.shared:
		return usage("--no-wait: excludes --shared")
	case f.tsa+f.pushPlan != "" && f.runtime == runtimeVM:
		return usage("--tsa, --push-plan: a virtual machine has no way out; anchor the journal afterwards with bench anchor")
	case !slices.Contains([]string{"auto", "bar", "plain", "json"}, f.progress):
		return usage("--progress %q: want auto, bar, plain or json", f.progress)
	}
	if _, err := os.Lstat(f.out); f.out != "" && err == nil {
		return usage("--out %s: exists already and is never overwritten; choose another folder, or go on with --resume %s", f.out, f.out)
	}
	return nil
}

// remember takes the selection of the artifact that is resumed.
func (f *runFlags) remember(cmd *cobra.Command) error {
	if f.resume == "" {
		return nil
	}
	if err := artifactFolder(f.resume); err != nil {
		return err
	}
	m, err := artifacts.ReadManifest(f.resume)
	if err != nil {
		return fail(ExitUsage, err)
	}
	f.sameRuntime(m.Runtime)
	words, unpinned := withoutUnpinned(m.Options)
	f.unpinned = f.unpinned || unpinned
	return f.recall(words, cmd.Flags().Changed)
}

// sameRuntime goes on where an artifact was begun, unless the user says otherwise; the runner refuses another one.
func (f *runFlags) sameRuntime(runtime string) {
	if f.runtime == runtimeAuto {
		f.runtime = runtime
	}
}

// takeCores names the columns of an unpinned protocol core after it.
func (f *runFlags) takeCores() error {
	if !f.unpinned {
		return nil
	}
	dir, err := driversFolder(f.driversDir)
	if err != nil {
		return err
	}
	core, err := drivers.UnpinnedCore(dir)
	if err != nil {
		return fail(ExitEnvironment, err)
	}
	f.sel.Cores = map[string]string{drivers.KCP: core}
	return nil
}

// lock waits for, refuses or shares the machine.
func (f *runFlags) lock(cmd *cobra.Command) (release func(), shared bool, err error) {
	mode := sandbox.LockWait
	switch {
	case f.noWait:
		mode = sandbox.LockNoWait
	case f.shared:
		mode = sandbox.LockShared
	}
	release, shared, err = sandbox.Lock(cmd.Context(), f.lockPath, mode, func(owner string) {
		what := "waiting for its end (--no-wait fails instead, --shared measures beside it)"
		if f.shared {
			what = "measuring beside it: every run is marked " + runner.FlagShared
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "bench: another benchmark runs here (%s): %s\n", oneLine(owner), what)
	})
	if err != nil && cmd.Context().Err() != nil {
		return nil, false, fail(ExitInterrupted, errors.New("interrupted while waiting for another benchmark; nothing was measured"))
	}
	return release, shared, fail(ExitEnvironment, err)
}

// folder decides which artifact this session writes.
func (f *runFlags) folder(plan *matrix.Plan) (dir string, resume bool, err error) {
	switch {
	case f.resume != "":
		return f.resume, true, nil
	case f.out != "":
		return f.out, false, nil
	case f.goOn:
		if dir := unfinished(resultsDir, plan); dir != "" {
			return dir, true, nil
		}
	}
	if err := os.MkdirAll(resultsDir, 0o755); err != nil {
		return "", false, fail(ExitEnvironment, fmt.Errorf("results folder: %w; choose another with --out", err))
	}
	return filepath.Join(resultsDir, artifactID(plan.Matrix, time.Now())), false, nil
}

// finish prints the tables of a finished or partial artifact and turns the totals into an exit code.
func (f *runFlags) finish(cmd *cobra.Command, t runner.Totals) error {
	out := cmd.OutOrStdout()
	if f.progress == "json" {
		out = cmd.ErrOrStderr()
	}
	if f.facts == "" { // else whoever started the virtual machine derives
		if err := derive(t.Dir, out); err != nil {
			return err
		}
		fmt.Fprintf(out, "artifact: %s\n", t.Dir)
	}
	switch t.ExitCode() {
	case runner.ExitInterrupted:
		advice := "go on with: bench run --resume " + t.Dir
		if f.facts != "" {
			advice = "the artifact has the others; a virtual machine cannot resume it"
		}
		return fail(ExitInterrupted, fmt.Errorf("interrupted with %d of %d runs to do; %s", t.NotRun, t.Planned, advice))
	case runner.ExitPartial:
		return fail(ExitPartial, fmt.Errorf("%d of %d runs failed, %d did not run; see the reasons above", t.Failed, t.Planned, t.NotRun))
	}
	return nil
}

// advise adds what to do about a results folder that cannot be written; what was measured is kept in it.
func (f *runFlags) advise(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w; make room, then go on with --resume", err)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w; choose a folder that you may write to with --out", err)
	}
	return err
}

// exitOf tells a wrong request from an environment that cannot.
func exitOf(err error) int {
	switch {
	case errors.Is(err, runner.ErrDiffers), errors.Is(err, artifacts.ErrExists):
		return ExitUsage
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	}
	return ExitEnvironment
}
