package kcp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// variant is a way to compile the driver.
type variant struct {
	name string
	both []string // flags for the core and for our files
	core []string // flags for the core alone
}

// coreIdioms are checks that the unchanged core cannot pass: it computes offsets through a null pointer, reads and writes unaligned
// words where the CPU allows it, and lets round-trip times of hostile time stamps overflow.
const coreIdioms = "-fno-sanitize=null,pointer-overflow,object-size,alignment,signed-integer-overflow"

func release() variant {
	return variant{name: "release", both: []string{"-O3", "-DNDEBUG", "-static"}}
}

func sanitized() variant {
	return variant{name: "address", both: []string{"-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}, core: []string{coreIdioms}}
}

func threaded() variant {
	return variant{name: "thread", both: []string{"-O1", "-g", "-fsanitize=thread"}}
}

// debug has symbols and no optimisation that valgrind would trip over.
func debug() variant { return variant{name: "debug", both: []string{"-O1", "-g"}} }

// warnings are errors in our files; the core's are its own business.
func warnings() []string {
	return []string{"-std=c11", "-pthread", "-Wall", "-Wextra", "-Wconversion", "-Werror", `-DKCP_VERSION="test"`}
}

var (
	buildMu sync.Mutex
	built   = map[string]bool{} // by path
)

// driver builds the driver once per variant and returns its path.
func driver(t *testing.T, v variant) string {
	t.Helper()
	return program(t, v, mustCore(t), "driver", ourFiles(t))
}

// ourFiles are the sources of the driver without the named ones.
func ourFiles(t *testing.T, without ...string) []string {
	t.Helper()
	files, err := filepath.Glob("*.c")
	if err != nil || len(files) == 0 {
		t.Fatalf("no C sources: %v", err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return slices.Contains(without, f) })
}

// program compiles files and the core in dir with a variant's flags.
func program(t *testing.T, v variant, dir, name string, files []string) string {
	t.Helper()
	buildMu.Lock()
	defer buildMu.Unlock()
	out := filepath.Join(workDir, name+"-"+v.name)
	if built[out] {
		return out
	}
	object := out + "-ikcp.o"
	compile(t, slices.Concat([]string{"-std=c11"}, v.both, v.core, []string{"-c", "-o", object, filepath.Join(dir, "ikcp.c")}))
	compile(t, slices.Concat(warnings(), v.both, []string{"-isystem", dir, "-o", out}, files, []string{object}))
	built[out] = true
	return out
}

func compile(t *testing.T, args []string) {
	t.Helper()
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// script writes a program that runs the driver under another one. Drivers get an empty environment.
func script(t *testing.T, name, command string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nexec %s \"$@\"\n", command), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
