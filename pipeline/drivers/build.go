package drivers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// commitVar is the variable that a driver's build without version control metadata takes its commit from.
const commitVar = "transportbench/transports/echo.sourceCommit"

// Built is the outcome of one build.
type Built struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	Skipped string `json:"skipped,omitempty"` // why nothing was built
}

// Options of a build.
type Options struct {
	KCPSource     string // folder with the KCP core (environment KCP_SRC); empty: the pinned commit from the cache or the network
	AllowUnpinned bool   // build over another core than the pinned one, as the column kcp-c@<core>
}

// Build makes launch and every driver whose sources exist, from the checkout at root into dir, with KCP_SRC of the environment.
func Build(ctx context.Context, root, dir string, report func(Built)) error {
	return BuildWith(ctx, root, dir, Options{KCPSource: os.Getenv("KCP_SRC")}, report)
}

// BuildWith is Build with options. Two builds of the same sources with the same toolchain give the same bytes. The first failure ends
// it; a *SourceError is none: the driver is reported as skipped.
func BuildWith(ctx context.Context, root, dir string, opt Options, report func(Built)) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("drivers folder: %w", err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("drivers folder: %w", err)
	}
	b := builder{root: root, dir: abs}
	if err := b.one(ctx, b.launch(), report); err != nil {
		return err
	}
	for _, s := range table() {
		err := error(nil)
		switch {
		case s.name == Enet:
			err = b.buildEnet(ctx, s, report)
		case s.c != "":
			err = b.buildKCP(ctx, s, opt, report)
		default:
			err = b.one(ctx, b.goDriver(s), report)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Bench is the file name of the static bench that the holder image has.
const Bench = "bench"

// BuildBench makes the static bench for the holder image from the checkout at root into dir. It knows no commit, so that its bytes
// depend on sources and toolchain alone.
func BuildBench(ctx context.Context, root, dir string, report func(Built)) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("build %s: %w", Bench, err)
	}
	if err := os.MkdirAll(abs, 0o755); err != nil {
		return fmt.Errorf("build %s: %w", Bench, err)
	}
	b := builder{root: root, dir: abs}
	return b.one(ctx, b.goProgram(Bench, "pipeline/cmd/bench", ""), report)
}

type builder struct {
	root, dir string
	target    Target
}

// program is one binary: how it is made and what of.
type program struct {
	name   string
	from   string                                          // what must exist below the root for it to be built
	make   func(ctx context.Context, out string) error     // writes the binary to out
	inputs func(ctx context.Context) ([]SourceFile, error) // every source that enters it; nil: not recorded, so it cannot be in a pinned image
	core   string
	tools  func(ctx context.Context) (toolchain string, err error) // nil: Go, which a binary names itself
}

// one builds a program beside its place and renames it, so that a failed or interrupted build leaves the old one whole.
func (b builder) one(ctx context.Context, p program, report func(Built)) error {
	if _, err := os.Stat(filepath.Join(b.root, p.from)); err != nil {
		report(Built{Name: p.name, Skipped: "unsupported: not built: " + p.from + " does not exist"})
		return nil
	}
	out := filepath.Join(b.dir, p.name)
	tmp := out + ".new"
	if err := p.make(ctx, tmp); err != nil {
		return fmt.Errorf("build %s: %w", p.name, err)
	}
	sum, err := Digest(tmp)
	if err != nil {
		return fmt.Errorf("build %s: %w", p.name, err)
	}
	if err := b.record(ctx, p, sum); err != nil {
		return fmt.Errorf("build %s: its sources: %w", p.name, err)
	}
	if err := os.Rename(tmp, out); err != nil {
		return fmt.Errorf("build %s: %w", p.name, err)
	}
	report(Built{Name: p.name, Path: out, SHA256: sum})
	return nil
}

func (b builder) goDriver(s source) program { return b.goProgram(s.name, s.pkg, commitVar) }

// goProgram is a static Go binary. A variable, if named, receives the revision of the sources.
func (b builder) goProgram(name, pkg, variable string) program {
	compile := func(ctx context.Context, out string) error {
		flags := "-ldflags=-buildid="
		if variable != "" {
			revision, err := goRevision(ctx, b.root, pkg, b.target.env()...)
			if err != nil {
				return err
			}
			flags += " -X " + variable + "=" + revision
		}
		return b.command(ctx, "go", "build", "-trimpath", "-buildvcs=false", flags, "-o", out, "./"+pkg)
	}
	inputs := func(ctx context.Context) ([]SourceFile, error) { return goSources(ctx, b.root, pkg) }
	return program{name: name, from: pkg, make: compile, inputs: inputs}
}

func (b builder) launch() program {
	const text = "containers/launch/launch.c"
	compile := func(ctx context.Context, out string) error {
		return b.command(ctx, b.target.compiler(), "-O2", "-static", "-o", out, text)
	}
	inputs := func(context.Context) ([]SourceFile, error) { return readSources(b.root, []string{text}) }
	return program{name: Launch, from: text, make: compile, inputs: inputs, tools: CToolchain}
}

func (b builder) command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = b.root
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "LC_ALL=C"), b.target.env()...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(tail(log.String(), 2000)))
	}
	return nil
}

func tail(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}
