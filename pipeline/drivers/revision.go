package drivers

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goRevision identifies the sources of a Go driver: SHA-256 over the name and content of every file of this module that enters
// it and over the versions of the other modules that do. A driver's digest therefore changes with its sources and not with
// every commit, which is what lets pins.json freeze it.
func goRevision(ctx context.Context, root, pkg string, env ...string) (string, error) {
	const format = `{{if not .Standard}}{{if .Module.Main}}{{range .GoFiles}}file {{$.Dir}}/{{.}}{{"\n"}}{{end}}{{else}}module {{.Module.Path}}@{{.Module.Version}}{{"\n"}}{{end}}{{end}}`
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", format, "./"+pkg)
	cmd.Dir = root
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="), env...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("go list: %s", tail(strings.TrimSpace(string(exit.Stderr)), 500))
		}
		return "", fmt.Errorf("go list: %w", err)
	}
	return hashSources(root, out)
}

// hashSources hashes the lines of goRevision's listing in sorted order.
func hashSources(root string, listing []byte) (string, error) {
	var lines []string
	for sc := bufio.NewScanner(bytes.NewReader(listing)); sc.Scan(); {
		if l := sc.Text(); l != "" && !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	slices.Sort(lines)
	h := sha256.New()
	for _, l := range lines {
		path, isFile := strings.CutPrefix(l, "file ")
		if !isFile {
			fmt.Fprintln(h, l)
			continue
		}
		if err := hashFile(h.Write, root, path); err != nil {
			return "", err
		}
	}
	return "sources-" + hex.EncodeToString(h.Sum(nil))[:40], nil
}

// hashFile writes the file's name below root, its length and its content, so that no two trees give the same bytes.
func hashFile(write func([]byte) (int, error), root, path string) error {
	abs, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(abs, path)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = write(fmt.Appendf(nil, "file %s %d\n%s\n", filepath.ToSlash(rel), len(content), content))
	return err
}
