package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"transportbench/artifacts"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/host"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/runner"
	"transportbench/pipeline/sandbox"
)

// options gathers what runner.Run needs and decides the link backend of every profile.
func (f *runFlags) options(cmd *cobra.Command, plan *matrix.Plan) (runner.Options, error) {
	var opt runner.Options
	dir, err := driversFolder(f.driversDir)
	if err != nil {
		return opt, err
	}
	rt, boxes, err := f.openRuntime(cmd, plan, dir)
	if err != nil {
		return opt, err
	}
	opt = runner.Options{Plan: plan, Runtime: rt, RetryFailed: f.retry, Floor: filepath.Join(dir, drivers.Launch), Ladder: f.replica.bytes()}
	opt.Network = func() (sandbox.NetState, error) { return sandbox.NetSnapshot(os.DirFS("/")) }
	if err := f.complete(cmd, &opt, dir, boxes); err != nil {
		rt.Close()
		return opt, err
	}
	return opt, nil
}

func (f *runFlags) complete(cmd *cobra.Command, opt *runner.Options, dir string, boxes *boxes) (err error) {
	probe, err := opt.Runtime.Probe(cmd.Context())
	if err != nil {
		return fail(ExitEnvironment, err)
	}
	if probe.Namespaces != "ok" {
		return fail(ExitEnvironment, errors.New(withFix(probe.Namespaces, probe.Fix)))
	}
	opt.NoFile = probe.NoFileHard
	if err := opt.Plan.ResolveBackends(chooser(probe.Links)); err != nil {
		return fail(ExitUsage, err)
	}
	opt.Topology = probe.Topology
	if boxes != nil {
		opt.Drivers = boxes.found
	} else if opt.Drivers, err = f.drivers(cmd.Context(), opt.Plan, dir); err != nil {
		return err
	}
	if opt.Dir, opt.Resume, err = f.folder(opt.Plan); err != nil {
		return err
	}
	opt.Progress = f.show(cmd)
	if opt.Manifest, err = f.manifest(cmd.Context(), opt, probe.Environment); err == nil && boxes != nil {
		err = boxes.describe(&opt.Manifest, probe.Engine)
	}
	return err
}

// chooser answers ResolveBackends from what the probe found; a link that nothing can make becomes an unsupported run.
func chooser(caps []link.Capability) func(matrix.LinkSpec) (string, error) {
	return func(spec matrix.LinkSpec) (string, error) {
		backend, err := link.Choose(spec, caps)
		var missing *link.UnsupportedError
		if errors.As(err, &missing) {
			return matrix.BackendNone, nil
		}
		return backend, err
	}
}

// drivers looks up every driver that the plan names.
func (f *runFlags) drivers(ctx context.Context, plan *matrix.Plan, dir string) ([]drivers.Driver, error) {
	bound, err := f.bound()
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, b := range bound {
		paths[b.name] = b.path
	}
	found := drivers.Find(ctx, dir, paths, plan.Drivers())
	for _, d := range found {
		if d.Bound && d.Missing != "" { // a typing error of the caller's, not a column that this machine lacks
			why, _, _ := strings.Cut(d.Missing, "; bind it")
			return nil, usage("--driver %s=%s cannot be used: %s; see bench conform", d.Name, paths[d.Name], why)
		}
	}
	if pins, err := drivers.ReadPins(pinsFile); err == nil {
		pins.Mark(found)
	}
	return found, nil
}

func (f *runFlags) show(cmd *cobra.Command) runner.Progress {
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	switch {
	case f.progress == "json":
		return runner.NewJSON(cmd.OutOrStdout())
	case f.progress == "bar" || f.progress == "auto" && terminal:
		return runner.NewBar(cmd.ErrOrStderr())
	}
	return runner.NewPlain(cmd.ErrOrStderr())
}

// manifest is what only the caller knows: source, pins and the machine. inside is the machine that measures where that may be another
// one than this; then both are stored.
func (f *runFlags) manifest(ctx context.Context, opt *runner.Options, inside *host.Environment) (artifacts.Manifest, error) {
	v := buildVersion()
	m := artifacts.Manifest{
		Replicates: f.replica.named(), ID: filepath.Base(opt.Dir), Columns: opt.Plan.Columns(), Options: f.words(),
		Code: artifacts.Code{Commit: v.Commit, Dirty: v.Dirty, Toolchain: v.Toolchain},
	}
	if b, err := os.ReadFile(pinsFile); err == nil {
		m.Pins.SHA256 = digest(b)
	}
	env := host.Capture(os.DirFS("/"), host.Options{
		WithHostName: f.withHostName, Toolchains: map[string]string{"go": v.Toolchain, "gcc": gccVersion(ctx)},
	})
	var err error
	if inside != nil {
		if m.ControlledFrom, err = json.Marshal(env); err != nil {
			return m, err
		}
		inside.Toolchains = env.Toolchains // of the drivers, which were built here
		env = *inside
	}
	m.HostFingerprint = env.Label + "/" + env.Kernel // a resume goes on here only; a name that the user gives is not part of it
	if f.hostLabel != "" {
		env.Label = f.hostLabel
	}
	m.HostLabel = env.Label
	if m.MeasuredOn, err = json.Marshal(env); err != nil {
		return m, err
	}
	exe, err := os.Executable()
	if err != nil {
		return m, fail(ExitEnvironment, err)
	}
	if m.Bench, err = drivers.Digest(exe); err != nil {
		return m, fail(ExitEnvironment, err)
	}
	m.Launch, err = drivers.Digest(opt.Floor)
	return m, fail(ExitEnvironment, err)
}

func gccVersion(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "gcc", "--version").Output()
	if err != nil {
		return "" // capture says unknown
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}
