package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transportbench/pipeline/vm"
)

// Places in the virtual machine. bench finds its drivers beside itself, as it does when it is installed.
const (
	guestDrivers = "/libexec/transportbench/"
	guestResults = "/results"
	guestProgram = "/program"
)

// machineFlags say what virtual machine to make.
type machineFlags struct {
	accel, kernel, modules string
	cpus, memoryMiB        int
}

// flags take a prefix, because `bench run` has flags of its own with such names.
func (m *machineFlags) flags(f *pflag.FlagSet, prefix string) {
	f.StringVar(&m.accel, prefix+"accel", vm.AccelAuto, "auto, kvm, or tcg: software emulation, whose results are functional only")
	f.IntVar(&m.cpus, prefix+"cpus", min(runtime.NumCPU(), 8), "processors of the virtual machine")
	f.IntVar(&m.memoryMiB, prefix+"memory", 2048, "memory of the virtual machine in MiB")
	f.StringVar(&m.kernel, prefix+"kernel", "", "boot this kernel `file` instead of the pinned one")
	f.StringVar(&m.modules, prefix+"modules", "", "its modules: the `folder` lib/modules/<release>")
}

func (m *machineFlags) check() error {
	switch {
	case !slices.Contains([]string{vm.AccelAuto, vm.AccelKVM, vm.AccelTCG}, m.accel):
		return usage("accelerator %q: want auto, kvm or tcg", m.accel)
	case (m.kernel == "") != (m.modules == ""):
		return usage("a kernel and the folder of its modules are given together or not at all")
	case m.cpus < 1 || m.memoryMiB < 256:
		return usage("virtual machine with %d CPUs and %d MiB: want at least 1 and 256", m.cpus, m.memoryMiB)
	}
	return nil
}

// machine finds the kernel and prepares a machine that talks to cmd's streams.
func (m *machineFlags) machine(cmd *cobra.Command) (*vm.Machine, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	var k vm.Kernel
	if m.kernel != "" {
		k, err = vm.KernelFile(m.kernel, m.modules)
	} else {
		k, err = vm.PinnedKernel(cmd.Context(), pinsFile)
	}
	return &vm.Machine{
		Kernel: k, Init: exe, Accel: m.accel, CPUs: m.cpus, MemoryMiB: m.memoryMiB, Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
		Notes: func(s string) { fmt.Fprintln(cmd.ErrOrStderr(), "bench:", oneLine(s)) },
	}, fail(ExitEnvironment, err)
}

// vmFlags are the flags of `bench vm`.
type vmFlags struct {
	machineFlags
	exec, out, driversDir, console string
	noLoad, leave                  []string
}

func newVM() *cobra.Command {
	var f vmFlags
	cmd := &cobra.Command{
		Use:   "vm -- ARGUMENTS",
		Short: "Run bench, or a static program, in a small virtual machine with the pinned kernel",
		Long: "Boots QEMU with the kernel of containers/pins.json (taken from Debian's archive once, then from the user's cache), the modules that the " +
			"three link backends need, this bench and its drivers. Nothing else is in it: no shell, no network, no disk. Streams, exit code and what the command " +
			"leaves in /results come back. Without a KVM that works, software emulation shows that things work and never how fast. " +
			"To measure a plan use bench run --runtime vm.",
		Example: "  bench vm -- doctor\n  bench vm --no-load sch_netem -- doctor\n  CGO_ENABLED=0 go test -c -o link.test ./pipeline/link && bench vm --exec link.test -- -test.v",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fs := cmd.Flags()
	f.flags(fs, "")
	fs.StringVar(&f.exec, "exec", "", "run this static program `file` instead of bench")
	fs.StringVar(&f.out, "out", "", "new `folder` for what the command leaves in "+guestResults)
	fs.StringVar(&f.driversDir, "drivers", "", "take the drivers of this `folder`")
	fs.StringVar(&f.console, "console", "", "write the machine's console to this new `file`")
	fs.StringSliceVar(&f.noLoad, "no-load", nil, "have this kernel `module` installed but not loaded (repeatable)")
	fs.StringSliceVar(&f.leave, "without", nil, "leave this kernel `module` out (repeatable)")
	return cmd
}

func (f *vmFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	m, err := f.machine(cmd)
	if err != nil {
		return err
	}
	j := vm.Job{Args: append([]string{vm.BenchFile}, args...), NoLoad: f.noLoad, Leave: f.leave, Data: map[string][]byte{guestResults + "/.keep": nil}}
	if f.out != "" {
		j.Collect = guestResults
	}
	if j.Files, err = f.files(); err != nil {
		return err
	}
	if f.exec != "" {
		j.Args[0], j.Files[guestProgram] = guestProgram, f.exec
	}
	res, err := runMachine(cmd.Context(), m, j, f.out)
	if f.console != "" {
		err = cmp.Or(err, fail(ExitEnvironment, writeNew(f.console, res.Console)))
	}
	if err != nil {
		return err
	}
	if res.Code != 0 {
		return fail(res.Code, errTold)
	}
	return nil
}

// files are bench's drivers and pins; a program that is no bench needs none.
func (f *vmFlags) files() (map[string]string, error) {
	if f.exec != "" {
		return map[string]string{}, vm.Static(f.exec)
	}
	dir, err := driversFolder(f.driversDir)
	if err != nil {
		return nil, err
	}
	return guestFiles(dir)
}

// guestFiles puts every file of the drivers' folder and the pins where the bench in the machine looks for them.
func guestFiles(dir string) (map[string]string, error) {
	files := map[string]string{}
	if _, err := os.Stat(pinsFile); err == nil {
		files["/"+pinsFile] = pinsFile
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			files[guestDrivers+e.Name()] = filepath.Join(dir, e.Name())
		}
	}
	return files, nil
}

// runMachine runs a job; an error of the machine is one of this environment.
func runMachine(ctx context.Context, m *vm.Machine, j vm.Job, out string) (vm.Result, error) {
	res, err := m.Run(ctx, j, out)
	if err == nil {
		m.Notes(fmt.Sprintf("virtual machine: kernel %s, %s, up after %.1f s", res.Facts.Release, res.Facts.Accelerator, res.BootNS.Seconds()))
	}
	return res, fail(ExitEnvironment, err)
}

// writeNew never overwrites.
func writeNew(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
