package drivers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Enet is the driver over the library of the same name that the system brings.
const Enet = "enet"

const (
	enetSources = "transports/enet"
	enetMissing = "libenet not found; apt-get install libenet-dev"
)

// enetShared are the files of the C KCP driver that enet compiles too: flags, records, workload and server over another session.
func enetShared() []string {
	return strings.Fields("flags check duration address json fail clock settings records samples payload control loop threads socket lane single concurrent report echo server")
}

// enetCompile returns the arguments of gcc that make the enet driver in a checkout's root, without optimisation, output and macros. A test
// compiles with the same. The two headers come first because they take the place of the KCP driver's.
func enetCompile(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, enetSources, "*.c"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no C sources in %s", enetSources)
	}
	args := []string{"-std=c11", "-D_GNU_SOURCE=", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pthread",
		"-include", enetSources + "/core.h", "-include", enetSources + "/peers.h"}
	for _, f := range files {
		args = append(args, enetSources+"/"+filepath.Base(f))
	}
	for _, name := range enetShared() {
		args = append(args, "transports/kcp/"+name+".c")
	}
	return append(args, "-lenet"), nil
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
	return b.one(ctx, s.name, b.compileEnet, s.c, report)
}

// hasEnet links an empty program with the library's header and name.
func (b builder) hasEnet(ctx context.Context) bool {
	probe := filepath.Join(b.dir, "libenet.probe")
	defer func() { _ = os.Remove(probe) }() // it is not there when the link failed
	return b.command(ctx, "gcc", "-shared", "-include", "enet/enet.h", "-x", "c", os.DevNull, "-x", "none", "-lenet", "-o", probe) == nil
}

func (b builder) compileEnet(ctx context.Context, out string) error {
	args, err := enetCompile(b.root)
	if err != nil {
		return err
	}
	revision, err := b.enetRevision()
	if err != nil {
		return err
	}
	return b.command(ctx, "gcc", append([]string{"-O3", "-DNDEBUG", `-DSOURCE_COMMIT="` + revision + `"`,
		`-DENET_PACKAGE="` + enetPackage(ctx) + `"`, "-o", out}, args...)...)
}

// enetRevision identifies the C sources as goRevision does those of a Go driver.
func (b builder) enetRevision() (string, error) {
	root, err := filepath.Abs(b.root)
	if err != nil {
		return "", err
	}
	var listing strings.Builder
	for _, pattern := range []string{enetSources + "/*.[ch]", "transports/kcp/*.h"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", err
		}
		for _, f := range files {
			fmt.Fprintln(&listing, "file "+f)
		}
	}
	for _, name := range enetShared() {
		fmt.Fprintln(&listing, "file "+filepath.Join(root, "transports", "kcp", name+".c"))
	}
	return hashSources(root, []byte(listing.String()))
}

// enetPackage is version and name of the distribution's package, or "unknown" where dpkg does not know it.
func enetPackage(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Package} ${Version}", "libenet-dev").Output()
	if err != nil || strings.ContainsAny(string(out), "\"\\\n") {
		return "unknown"
	}
	return string(out)
}
