package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"transportbench/pipeline/vm"
)

// TestVMJob: the bench in the machine gets the whole selection, with every file that it names at a place of its own.
func TestVMJob(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "launch"), nil, 0o755))
	exe, err := os.Executable()
	must(t, err)
	if vm.Static(exe) != nil {
		t.Skip("unsupported: this test program is linked dynamically and stands for a static driver; run with CGO_ENABLED=0")
	}
	matrixFile := filepath.Join(dir, "mine.yaml")
	must(t, os.WriteFile(matrixFile, nil, 0o644))
	f := runFlags{driversDir: dir, progress: "auto", hostLabel: "here"}
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.flags(fs)
	must(t, fs.Parse([]string{"--matrix", matrixFile, "--driver", "mine=" + exe, "--only", "loss=5", "--scale", "0.5", "--deadline-scale", "10", "--repetitions", "2"}))
	j, err := f.vmJob("/results/x", true)
	must(t, err)
	for _, want := range []string{
		"--matrix=/mine.yaml", "--driver=mine=/bound/mine", "--only=loss=5", "--scale=0.5", "--deadline-scale=10", "--repetitions=2",
		"--out=/results/x", "--shared", "--runtime=local", "--host-label=here", "--progress=plain",
	} {
		if !slices.Contains(j.Args, want) {
			t.Errorf("arguments %v lack %s", j.Args, want)
		}
	}
	if j.Files["/mine.yaml"] != matrixFile || j.Files["/bound/mine"] != exe || j.Files[guestDrivers+"launch"] != filepath.Join(dir, "launch") || j.Collect != "/results/x" {
		t.Errorf("files %v, collect %s", j.Files, j.Collect)
	}
}

func TestVMUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--runtime", "vm", "--vm-accel", "hvf", "--shared"}, "want auto, kvm or tcg"},
		{[]string{"run", "--runtime", "vm", "--vm-kernel", "k", "--shared"}, "together"},
		{[]string{"run", "--runtime", "vm", "--continue", "--shared"}, "cannot resume"},
		{[]string{"vm", "--memory", "1"}, "at least 1 and 256"},
		{[]string{"vm", "--kernel", "k"}, "together"},
	} {
		c0 := console{err: &strings.Builder{}, out: &strings.Builder{}, lock: filepath.Join(t.TempDir(), "lock")}
		if code := c0.main(c.args); code != ExitUsage || !strings.Contains(c0.err.(*strings.Builder).String(), c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, c0.err)
		}
	}
}
