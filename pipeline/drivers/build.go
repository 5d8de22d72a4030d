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
	b := builder{root: root, dir: abs, commit: commit(ctx, root)}
	if err := b.one(ctx, Launch, b.launch, filepath.Join("containers", "launch", "launch.c"), report); err != nil {
		return err
	}
	for _, s := range table() {
		err := error(nil)
		if s.c != "" {
			err = b.buildKCP(ctx, s, opt, report)
		} else {
			err = b.one(ctx, s.name, b.goDriver(s), s.pkg, report)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type builder struct{ root, dir, commit string }

// step writes the program to out.
type step func(ctx context.Context, out string) error

// one builds a program beside its place and renames it, so that a failed or interrupted build leaves the old one whole.
func (b builder) one(ctx context.Context, name string, make step, sources string, report func(Built)) error {
	if _, err := os.Stat(filepath.Join(b.root, sources)); err != nil {
		report(Built{Name: name, Skipped: "unsupported: not built: " + sources + " does not exist"})
		return nil
	}
	out := filepath.Join(b.dir, name)
	tmp := out + ".new"
	if err := make(ctx, tmp); err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	if err := os.Rename(tmp, out); err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	sum, err := Digest(out)
	if err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	report(Built{Name: name, Path: out, SHA256: sum})
	return nil
}

func (b builder) goDriver(s source) step {
	return func(ctx context.Context, out string) error {
		revision, err := goRevision(ctx, b.root, s.pkg)
		if err != nil {
			return err
		}
		return b.command(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-buildid= -X "+commitVar+"="+revision, "-o", out, "./"+s.pkg)
	}
}

func (b builder) launch(ctx context.Context, out string) error {
	return b.command(ctx, "gcc", "-O2", "-static", "-o", out, "containers/launch/launch.c")
}

func (b builder) command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "LC_ALL=C")
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

// commit is the checked-out commit, with "+dirty" when files differ from it; empty outside git.
func commit(ctx context.Context, root string) string {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	head, err := git("rev-parse", "HEAD")
	if err != nil {
		return "unknown"
	}
	changed, err := git("status", "--porcelain", "--untracked-files=no", "--", "transports", "go.mod", "go.sum", "containers/launch")
	if err != nil || changed != "" {
		head += "+dirty"
	}
	return head
}
