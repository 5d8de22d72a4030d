// Package enet holds no Go code but the tests of the C driver. The C files begin with a build constraint so that the Go tool does not take
// them for cgo.
package enet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// workDir holds what is built once for all tests.
var workDir string

// unsupportedError names what this machine lacks; the only reason to skip a test.
type unsupportedError struct{ missing string }

func (e *unsupportedError) Error() string { return "unsupported: " + e.missing }

// probe links a program with the library once.
var probe = sync.OnceValue(func() error {
	out := filepath.Join(workDir, "probe")
	cmd := exec.Command("gcc", "-shared", "-include", "enet/enet.h", "-x", "c", os.DevNull, "-x", "none", "-lenet", "-o", out)
	if text, err := cmd.CombinedOutput(); err != nil {
		return &unsupportedError{fmt.Sprintf("libenet; apt-get install libenet-dev (%v: %.200s)", err, text)}
	}
	return nil
})

func mustLibrary(t *testing.T) {
	t.Helper()
	err := probe()
	var missing *unsupportedError
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sanitized ends the process at the first memory error, undefined behaviour or leak in our files, and at whatever the library does with the
// memory it asks for.
func sanitized() []string {
	return []string{"-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
}

func warnings() []string {
	return []string{"-std=c11", "-D_GNU_SOURCE=", "-pthread", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-include", "core.h", "-include", "peers.h"}
}

var (
	buildMu sync.Mutex
	built   bool
)

// driver builds the sanitized driver once and returns its path.
func driver(t *testing.T) string {
	t.Helper()
	mustLibrary(t)
	buildMu.Lock()
	defer buildMu.Unlock()
	out := filepath.Join(workDir, "driver")
	if built {
		return out
	}
	files, err := filepath.Glob("*.c")
	if err != nil || len(files) == 0 {
		t.Fatalf("no C sources: %v", err)
	}
	shared, err := os.ReadFile("shared.txt")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, strings.Fields(string(shared))...)
	compile(t, slices.Concat(warnings(), sanitized(), []string{"-o", out}, files, []string{"-lenet"}))
	built = true
	return out
}

func compile(t *testing.T, args []string) {
	t.Helper()
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
