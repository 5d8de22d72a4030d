package drivers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

var glibcMacro = regexp.MustCompile(`(?m)^#define __GLIBC(_MINOR)?__ (\d+)$`)

// CToolchain names what decides the bytes of a static C binary beside its sources: compiler, linker and the archive of the C library, whose
// packages change under the same version.
func CToolchain(ctx context.Context) (string, error) {
	cc, err := tool(ctx, nil, "gcc", "--version")
	if err != nil {
		return "", err
	}
	ld, err := tool(ctx, nil, "gcc", "-Wl,--version", "-nostdlib", "-static")
	if err != nil {
		return "", err
	}
	macros, err := tool(ctx, []byte("#include <features.h>\n"), "gcc", "-dM", "-E", "-x", "c", "-")
	if err != nil {
		return "", err
	}
	archive, err := tool(ctx, nil, "gcc", "-print-file-name=libc.a")
	if err != nil {
		return "", err
	}
	sum, err := Digest(filepath.Clean(strings.TrimSpace(archive)))
	if err != nil {
		return "", fmt.Errorf("static C library: %w; install libc6-dev", err)
	}
	var version []string
	for _, m := range glibcMacro.FindAllStringSubmatch(macros, -1) {
		version = append(version, m[2])
	}
	libc := "libc"
	if len(version) > 0 {
		libc = "glibc " + strings.Join(version, ".")
	}
	return fmt.Sprintf("%s, %s, %s libc.a sha256:%.12s", head(cc), head(ld), libc, sum), nil
}

// head is the first line of what a tool says of itself.
func head(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.Join(strings.Fields(line), " ")
}

func tool(ctx context.Context, in []byte, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var log bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &log
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("toolchain of C: %s %s: %w%s", name, args[0], err, firstLine(log.Bytes()))
	}
	return string(out), nil
}
