package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// Sums of floats differ in their last bits between processors with and without fused multiply-add; derived files must not. The other
// processor is emulated (Debian package qemu-user-static).
func TestDerivedFilesAreTheSameOnARM64(t *testing.T) {
	if runtime.GOARCH == "arm64" {
		t.Skip("unsupported: this machine is arm64 itself")
	}
	if testing.Short() {
		t.Skip("unsupported with -short: builds bench for arm64")
	}
	qemu := need(t, "qemu-aarch64-static")
	bench := filepath.Join(t.TempDir(), "bench-arm64")
	build := exec.Command("go", "build", "-o", bench, "./pipeline/cmd/bench")
	build.Dir, build.Env = root(t), append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build for arm64: %v\n%s", err, out)
	}
	here := varied(t)
	_, err := writeReport(here, false)
	must(t, err)
	there := filepath.Join(t.TempDir(), "artifact")
	must(t, os.CopyFS(there, os.DirFS(here)))
	names, err := derivedNames(there)
	must(t, err)
	for _, name := range names {
		must(t, os.Remove(filepath.Join(there, filepath.FromSlash(name))))
	}
	for _, args := range [][]string{{"analyze", "--quiet", there}, {"report", there}} {
		cmd := exec.Command(qemu, append([]string{bench}, args...)...)
		cmd.Env = []string{"LANG=C"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("bench %v on arm64: %v\n%s", args, err, out)
		}
	}
	again, err := derivedNames(there)
	must(t, err)
	if !slices.Equal(names, again) {
		t.Fatalf("arm64 derives %v, this machine %v", again, names)
	}
	for _, name := range append(names, "DERIVED.SHA256SUMS") {
		a, err := os.ReadFile(filepath.Join(here, filepath.FromSlash(name)))
		must(t, err)
		b, err := os.ReadFile(filepath.Join(there, filepath.FromSlash(name)))
		must(t, err)
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs on arm64: %s", name, firstDifference(a, b))
		}
	}
}
