package vm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Accelerators.
const (
	AccelAuto = "auto" // kvm where a guest comes up with it, else tcg
	AccelKVM  = "kvm"
	AccelTCG  = "tcg" // software emulation: shows that something works, never how fast
)

// Machine is a virtual machine that can be started for one job at a time.
type Machine struct {
	Kernel    Kernel
	Init      string // static program that is the guest's init and bench
	Accel     string // AccelAuto, AccelKVM or AccelTCG
	CPUs      int
	MemoryMiB int
	Stdout    io.Writer // of the job's command
	Stderr    io.Writer
	Notes     func(string) // what the user should know, such as why KVM is not used; may be nil
}

// Result is how a job ended. Code is the command's exit code.
type Result struct {
	Code    int
	Facts   Facts
	BootNS  time.Duration // QEMU's start to the guest's first word
	Kernel  time.Duration // the guest's own clock at that moment
	Console []byte        // of the machine that ran the job, shortened in the middle
	Tried   []string      // accelerators that did not come up, with the reason
}

// BootError says that no guest came up: this environment cannot run the machine.
type BootError struct {
	Accel   string
	Console []byte
	Err     error
}

// Error is one line.
func (e *BootError) Error() string {
	s := fmt.Sprintf("virtual machine (%s): did not come up: %v", e.Accel, e.Err)
	if l := telling(string(e.Console)); l != "" {
		s += ": console: " + l
	}
	return s
}

// telling is the line of a console that says most: the kernel's or init's reason, else the last.
func telling(console string) string {
	for line := range strings.Lines(console) {
		for _, mark := range []string{"Kernel panic", "init: ", "Out of memory"} {
			if strings.Contains(line, mark) {
				return strings.TrimSpace(line)
			}
		}
	}
	return lastLine(console)
}

// Unwrap returns the reason.
func (e *BootError) Unwrap() error { return e.Err }

// RunError says that the machine broke after it came up. What it had said is lost, except its console.
type RunError struct {
	Console []byte
	Err     error
}

// Error is one line.
func (e *RunError) Error() string { return fmt.Sprintf("virtual machine: %v", e.Err) }

// Unwrap returns the reason.
func (e *RunError) Unwrap() error { return e.Err }

// Time for a guest to say its first word. A KVM that works needs one or two seconds, one that hangs never says it; emulation
// on a busy machine may take long.
const (
	bootKVM = 10 * time.Second
	bootTCG = 120 * time.Second
)

// Run boots the machine, runs the job and unpacks what it collected into the new folder out (empty: it collects nothing).
// An interrupt of ctx is passed to the command, whose results still come back.
func (m *Machine) Run(ctx context.Context, j Job, out string) (Result, error) {
	version, err := m.check(ctx)
	if err != nil {
		return Result{}, err
	}
	img, err := m.image(j)
	if err != nil {
		return Result{}, err
	}
	img.facts.QEMU = version
	dir, err := os.MkdirTemp("", "transportbench-vm-")
	if err != nil {
		return Result{}, fmt.Errorf("virtual machine: %w", err)
	}
	defer os.RemoveAll(dir)
	var tried []string
	for _, accel := range accelerators(m.Accel) {
		img.facts.Accelerator = accel
		initrd := filepath.Join(dir, accel+".cpio")
		if err := img.write(initrd, j); err != nil {
			return Result{}, err
		}
		res, err := m.boot(ctx, img.facts, initrd, out)
		res.Tried = tried
		var boot *BootError
		if accel == AccelKVM && m.Accel == AccelAuto && errors.As(err, &boot) && ctx.Err() == nil {
			tried = append(tried, boot.Error())
			m.note(boot.Error() + "; using software emulation: results are functional only")
			continue
		}
		return res, err
	}
	return Result{}, errors.New("virtual machine: no accelerator was tried") // accelerators is never empty
}

// image is what the machine boots besides the kernel.
type image struct {
	base    []byte // first archive
	modules []module
	facts   Facts
}

func (m *Machine) image(j Job) (*image, error) {
	ms, err := loadModules(m.Kernel.Modules, without(wanted, j.Leave), builtinModules(m.Kernel.Modules))
	if err != nil {
		return nil, err
	}
	var base bytes.Buffer
	if err := writeBase(&base, m.Kernel, m.Init, ms); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(base.Bytes())
	return &image{base.Bytes(), ms, Facts{
		Release: m.Kernel.Release, Package: m.Kernel.Package, KernelSHA256: m.Kernel.SHA256, Pinned: m.Kernel.Pinned,
		InitramfsSHA256: hex.EncodeToString(sum[:]), CPUs: m.CPUs, MemoryMiB: m.MemoryMiB,
	}}, nil
}

func (m *Machine) note(s string) {
	if m.Notes != nil {
		m.Notes(s)
	}
}

// accelerators lists what to try in order. KVM is not tried where its device is not there.
func accelerators(want string) []string {
	switch {
	case want != AccelAuto:
		return []string{want}
	case exists("/dev/kvm"):
		return []string{AccelKVM, AccelTCG}
	}
	return []string{AccelTCG}
}

// check returns the version of QEMU.
func (m *Machine) check(ctx context.Context) (string, error) {
	if m.CPUs < 1 || m.MemoryMiB < 256 {
		return "", fmt.Errorf("virtual machine: %d CPUs and %d MiB: want at least 1 and 256", m.CPUs, m.MemoryMiB)
	}
	if err := Static(m.Init); err != nil {
		return "", err
	}
	return qemuVersion(ctx)
}

func qemuVersion(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, qemu, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("virtual machine: %w; install QEMU (Debian and Ubuntu: apt-get install qemu-system-x86)", err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}

// write joins the base and the job's archive: the kernel unpacks one after the other.
func (i *image) write(name string, j Job) error {
	b := boot{Job: j, Now: time.Now().UTC()}
	for _, mod := range i.modules {
		if !contains(j.NoLoad, mod.name) {
			b.Modules = append(b.Modules, "/lib/modules/"+i.facts.Release+"/"+mod.path)
		}
	}
	job, err := json.Marshal(b)
	if err != nil {
		return err
	}
	known, err := json.Marshal(i.facts)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	_, err = f.Write(i.base)
	if err == nil {
		err = writeJob(f, j, map[string][]byte{jobFile: job, FactsFile: known})
	}
	return errors.Join(err, f.Close())
}

func contains(names []string, name string) bool { return len(without([]string{name}, names)) == 0 }
