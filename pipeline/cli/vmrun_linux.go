package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"transportbench/artifacts"
	"transportbench/pipeline/host"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/runner"
	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/vm"
)

const (
	runtimeVM = "vm"
	factsFlag = "in-vm"               // hidden
	hostFile  = "/vm/controlled.json" // in the machine: the capture of the host
)

// runVM measures the plan with the bench in a virtual machine and fetches its artifact.
func (f *runFlags) runVM(cmd *cobra.Command, plan *matrix.Plan, shared bool) error {
	if err := f.vm.check(); err != nil {
		return err
	}
	if f.resume != "" || f.goOn {
		return usage("--runtime vm: cannot resume: the whole plan runs in one boot; begin a new artifact")
	}
	m, err := f.vm.machine(cmd)
	if err != nil {
		return err
	}
	dir, _, err := f.folder(plan)
	if err != nil {
		return err
	}
	j, err := f.vmJob(path.Join(guestResults, filepath.Base(dir)), shared)
	if err != nil {
		return err
	}
	res, err := runMachine(cmd.Context(), m, j, dir)
	if err != nil {
		console := filepath.Clean(dir) + ".console.log"
		if len(res.Console) > 0 && writeNew(console, res.Console) == nil {
			err = fmt.Errorf("%w; its console is in %s", err, console)
		}
		return fail(ExitEnvironment, err)
	}
	return f.fetched(cmd, dir, res.Code)
}

// fetched derives what the machine left to its host. A bench that failed before it had an artifact has said why.
func (f *runFlags) fetched(cmd *cobra.Command, dir string, code int) error {
	out := cmd.OutOrStdout()
	if f.progress == "json" {
		out = cmd.ErrOrStderr()
	}
	if _, err := os.Stat(dir); err == nil {
		if err := derive(dir, out); err != nil {
			return err
		}
		fmt.Fprintf(out, "artifact: %s\n", dir)
	} else if code == 0 {
		return fail(ExitEnvironment, errors.New("virtual machine: brought no results back"))
	}
	if code != 0 {
		return fail(code, errTold)
	}
	return nil
}

// vmJob is this run as the bench in the machine has to be called, with the files that it needs.
func (f *runFlags) vmJob(out string, shared bool) (vm.Job, error) {
	dir, err := driversFolder(f.driversDir)
	if err != nil {
		return vm.Job{}, err
	}
	j := vm.Job{Collect: out}
	if j.Files, err = guestFiles(dir); err != nil {
		return j, err
	}
	lock := "--no-wait"
	if shared {
		lock = "--shared"
	}
	progress := "plain"
	if f.progress == "json" {
		progress = f.progress
	}
	j.Args = []string{vm.BenchFile, "run", "--" + factsFlag + "=" + vm.FactsFile, "--runtime=local", "--out=" + out, lock, "--progress=" + progress}
	if f.hostLabel != "" {
		j.Args = append(j.Args, "--host-label="+f.hostLabel)
	}
	here, err := json.Marshal(host.Capture(os.DirFS("/"), host.Options{WithHostName: f.withHostName}))
	if err != nil {
		return j, err
	}
	j.Data = map[string][]byte{hostFile: here, guestResults + "/.keep": nil}
	return j, f.bring(&j)
}

// bring adds the selection; the files that it names come along.
func (f *runFlags) bring(j *vm.Job) error {
	bound, err := f.bound()
	if err != nil {
		return err
	}
	for _, b := range bound {
		if err := vm.Static(b.path); err != nil {
			return fail(ExitUsage, err)
		}
	}
	for _, w := range f.words() {
		key, value, _ := strings.Cut(w, "=")
		switch {
		case key == "--matrix" && !slices.Contains(matrix.BuiltinNames(), f.matrix):
			j.Files["/"+value], w = f.matrix, "--matrix=/"+value
		case key == "--driver":
			i := slices.IndexFunc(bound, func(b binding) bool { return b.name == value })
			inside := "/bound/" + value
			j.Files[inside], w = bound[i].path, "--driver="+value+"="+inside
		}
		j.Args = append(j.Args, w)
	}
	return nil
}

// machineRuntime is the local runtime of a virtual machine: it differs in what an artifact calls it.
type machineRuntime struct{ sandbox.Runtime }

func (machineRuntime) Name() string { return runtimeVM }

// insideVM makes a run that happens in a virtual machine say so.
func (f *runFlags) insideVM(opt *runner.Options) error {
	if f.facts == "" {
		return nil
	}
	var facts vm.Facts
	b, err := os.ReadFile(f.facts)
	if err == nil {
		err = json.Unmarshal(b, &facts)
	}
	if err == nil {
		opt.Manifest.ControlledFrom, err = os.ReadFile(hostFile)
	}
	if err != nil {
		return fail(ExitEnvironment, fmt.Errorf("virtual machine: %w", err))
	}
	opt.Runtime = machineRuntime{opt.Runtime}
	opt.Console = kernelLog
	opt.Shared = opt.Shared || f.shared // the host's lock is not visible in here
	opt.Manifest.VM = &artifacts.VM{
		Kernel: facts.Release, KernelPackage: facts.Package, KernelSHA256: facts.KernelSHA256, KernelPinned: facts.Pinned,
		InitramfsSHA256: facts.InitramfsSHA256, Accelerator: facts.Accelerator, QEMU: facts.QEMU, CPUs: facts.CPUs, MemoryMiB: facts.MemoryMiB,
		FunctionalOnly: facts.Accelerator != artifacts.AcceleratorKVM,
	}
	return nil
}

// kernelLog reads the kernel's ring buffer: the console without what a serial line may lose.
func kernelLog() ([]byte, error) {
	const readAll, size = 3, 10 // SYSLOG_ACTION_READ_ALL and SYSLOG_ACTION_SIZE_BUFFER of syslog(2)
	n, err := unix.Klogctl(size, nil)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	n, err = unix.Klogctl(readAll, b)
	return b[:max(n, 0)], err
}
