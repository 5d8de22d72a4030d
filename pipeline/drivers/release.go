package drivers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Target is a machine that binaries are made for; the zero value is this one.
type Target struct{ Arch string } // as Go calls it

// Targets lists what releases are made for. All are Linux, since only Linux can run drivers.
func Targets() []Target { return []Target{{"amd64"}, {"arm64"}} }

// env makes the Go toolchain build for the target.
func (t Target) env() []string {
	if t.Arch == "" {
		return nil
	}
	return []string{"GOOS=linux", "GOARCH=" + t.Arch}
}

// compiler is the C compiler for the target as Debian calls it.
func (t Target) compiler() string {
	triplets := map[string]string{"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}
	if t.Arch == "" || t.Arch == runtime.GOARCH {
		return "gcc"
	}
	return triplets[t.Arch]
}

const notReleased = "not part of a release, which has what this repository alone gives; build it in a checkout with `bench drivers build`"

// BuildRelease makes for the target what a release of bench consists of, from the checkout at root: bench itself, which knows its commit,
// launch and the Go drivers. Drivers over code from elsewhere are left out, with the reason beside their place. It returns the names of
// the files in dir that bench carries.
func BuildRelease(ctx context.Context, root, dir string, t Target) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("release for %s: %w", t.Arch, err)
	}
	b := builder{root: root, dir: abs, target: t}
	if err := b.command(ctx, "go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w -buildid=", "-o", filepath.Join(abs, Bench), "./pipeline/cmd/bench"); err != nil {
		return nil, fmt.Errorf("release for %s: %w", t.Arch, err)
	}
	if err := b.unrecorded(ctx, b.launch()); err != nil {
		return nil, fmt.Errorf("release for %s: %w; it needs %s with its static C library (gcc-aarch64-linux-gnu and libc6-dev-arm64-cross for arm64)",
			t.Arch, err, t.compiler())
	}
	names := []string{Launch}
	for _, s := range table() {
		name := s.name
		if s.c != "" {
			name += reasonSuffix
			err = os.WriteFile(filepath.Join(abs, name), []byte(notReleased+"\n"), 0o644)
		} else {
			err = b.unrecorded(ctx, b.goDriver(s))
		}
		if err != nil {
			return nil, fmt.Errorf("release for %s: %w", t.Arch, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// unrecorded builds without the list of sources, which only images need.
func (b builder) unrecorded(ctx context.Context, p program) error {
	p.inputs = nil
	return b.one(ctx, p, func(Built) {})
}
