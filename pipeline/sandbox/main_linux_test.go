package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

// launchPath is the launch program built for this test run; empty where there is no C compiler.
var launchPath string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.HolderArg {
		os.Exit(sandbox.HolderMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == runtimetest.ProbeArg {
		os.Exit(runtimetest.ProbeMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == parentArg {
		os.Exit(parentMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == refusedArg {
		os.Exit(refusedMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == dockerParentArg {
		os.Exit(dockerParentMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == engineArg {
		os.Exit(engineMain())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sandbox-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "launch")
	out, err := exec.Command("cc", "-static", "-O2", "-o", path, "../../containers/launch/launch.c").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "launch: %v: %s\n", err, out)
	} else {
		launchPath = path
	}
	code := m.Run()
	// Where there is no engine there are no images of ours either.
	if _, err := sandbox.RemoveImages(context.Background(), "transportbench-test/"); err != nil && !errors.As(err, new(*sandbox.UnsupportedError)) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func newTestLocal(t testing.TB) *sandbox.Local {
	t.Helper()
	if launchPath == "" {
		t.Skip("unsupported: no C compiler with a static libc to build launch")
	}
	l, err := sandbox.NewLocal(launchPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
