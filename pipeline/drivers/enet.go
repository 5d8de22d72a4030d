package drivers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Enet is the driver over the library of the same name that the system brings.
const Enet = "enet"

const (
	enetSources = "transports/enet"
	enetMissing = "libenet not found; apt-get install libenet-dev"
)

// enetShared reads which files of the C KCP driver enet compiles too: flags, records, workload and server, over another session.
func (b builder) enetShared() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(b.root, enetSources, "shared.txt"))
	if err != nil {
		return nil, err
	}
	var paths []string
	for name := range strings.FieldsSeq(string(text)) {
		paths = append(paths, path.Join(enetSources, name))
	}
	return paths, nil
}

// buildEnet builds the driver over the system's libenet, or leaves the reason beside its place.
func (b builder) buildEnet(ctx context.Context, s source, report func(Built)) error {
	note := filepath.Join(b.dir, s.name+reasonSuffix)
	if !b.hasEnet(ctx) {
		report(Built{Name: s.name, Skipped: (&SourceError{enetMissing}).Error()})
		return os.WriteFile(note, []byte(enetMissing+"\n"), 0o644)
	}
	if err := os.Remove(note); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("build %s: %w", s.name, err)
	}
	inputs := func(context.Context) ([]SourceFile, error) { return b.enetFiles() }
	return b.one(ctx, program{name: s.name, from: s.c, make: b.compileEnet, inputs: inputs, tools: CToolchain}, report)
}

// hasEnet links an empty program with the library's header and name.
func (b builder) hasEnet(ctx context.Context) bool {
	probe := filepath.Join(b.dir, "libenet.probe")
	defer func() { _ = os.Remove(probe) }() // it is not there when the link failed
	return b.command(ctx, "gcc", "-shared", "-include", "enet/enet.h", "-x", "c", os.DevNull, "-x", "none", "-lenet", "-o", probe) == nil
}

// enetFiles are the driver's own files, the shared ones and every header that these may include.
func (b builder) enetFiles() ([]SourceFile, error) {
	paths, err := b.enetShared()
	if err != nil {
		return nil, err
	}
	for _, pattern := range []string{enetSources + "/*.[ch]", "transports/kcp/*.h"} {
		found, err := fs.Glob(os.DirFS(b.root), pattern)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	return readSources(b.root, paths)
}

// compileEnet puts the two headers first that take the place of the KCP driver's.
func (b builder) compileEnet(ctx context.Context, out string) error {
	sources, err := b.enetFiles()
	if err != nil {
		return err
	}
	args := []string{"-O3", "-DNDEBUG", "-std=c11", "-D_GNU_SOURCE=", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pthread",
		"-include", enetSources + "/core.h", "-include", enetSources + "/peers.h",
		`-DENET_PACKAGE="` + enetPackage(ctx) + `"`, `-DSOURCE_COMMIT="tree-` + TreeID(sources) + `"`, "-o", out}
	for _, f := range sources {
		if strings.HasSuffix(f.Path, ".c") {
			args = append(args, f.Path)
		}
	}
	return b.command(ctx, "gcc", append(args, "-lenet")...)
}

// enetPackage is name and version of the distribution's package, or "unknown" where dpkg does not know it.
func enetPackage(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Package} ${Version}", "libenet-dev").Output()
	if err != nil || strings.ContainsAny(string(out), "\"\\\n") {
		return "unknown"
	}
	return string(out)
}
