package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

// TestHolderDies kills the holder under a running driver: everyone who waits must hear of it.
func TestHolderDies(t *testing.T) {
	l := newTestLocal(t)
	before := descendants(t, os.Getpid())
	env, err := l.Open(t.Context(), runtimetest.Spec())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	for pid := range descendants(t, os.Getpid()) {
		if _, old := before[pid]; !old {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	var died *sandbox.HolderError
	if _, err := env.Counters(t.Context()); !errors.As(err, &died) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("counters: %v, want a *HolderError that says how", err)
	}
	_, err = env.Start(t.Context(), sandbox.ProcSpec{Name: "late", Path: self(t)})
	if !errors.As(err, &died) || strings.Contains(err.Error(), "\n") {
		t.Errorf("start: %v, want one line of a *HolderError", err)
	}
}

func TestHolderDiesUnderDriver(t *testing.T) {
	l := newTestLocal(t)
	env, err := l.Open(t.Context(), runtimetest.Spec())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	holder := descendants(t, os.Getpid())
	p, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "server", Path: self(t), Args: []string{runtimetest.ProbeArg, "hang"}})
	if err != nil {
		t.Fatal(err)
	}
	for pid := range holder {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	var died *sandbox.HolderError
	if err := p.Wait(); !errors.As(err, &died) {
		t.Errorf("wait: %v, want a *HolderError", err)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("stop of what is gone: %v", err)
	}
}

// TestOpenEndsWithContext: an open that is no longer wanted leaves nothing.
func TestOpenEndsWithContext(t *testing.T) {
	l := newTestLocal(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := descendants(t, os.Getpid())
	// The answer may win the race; then there is a network to close.
	if env, err := l.Open(ctx, runtimetest.Spec()); err == nil {
		env.Close()
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v, want the context's error", err)
	}
	if after := descendants(t, os.Getpid()); len(after) != len(before) {
		t.Errorf("processes before %d, after %d", len(before), len(after))
	}
}

func TestOpenRefusesBadSpecs(t *testing.T) {
	l := newTestLocal(t)
	for _, c := range []struct {
		change func(*sandbox.EnvSpec)
		want   string
	}{
		{func(s *sandbox.EnvSpec) { s.Seed = "zz" }, "link seed"},
		{func(s *sandbox.EnvSpec) { s.Seed = strings.Repeat("00", 33) }, "link seed"},
		{func(s *sandbox.EnvSpec) { s.Link.Topology = "dumbbell" }, "dumbbell"},
		{func(s *sandbox.EnvSpec) { s.Link.Backend = "magic" }, "magic"},
		{func(s *sandbox.EnvSpec) { s.Port = 0 }, "port"},
	} {
		spec := runtimetest.Spec()
		c.change(&spec)
		env, err := l.Open(t.Context(), spec)
		if err == nil {
			env.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("open: %v, want one line with %q", err, c.want)
		}
	}
}

// refusedArg makes the test program a bench on a machine whose user namespaces are switched off.
const refusedArg = "__refused"

// refusedMain runs as root of a namespace of its own, where the limit is its own too.
func refusedMain(args []string) int {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		fmt.Println("limit:", err)
		return 1
	}
	l, err := sandbox.NewLocal(args[0])
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer l.Close()
	p, err := l.Probe(context.Background())
	fmt.Println("probe:", p.Namespaces, err)
	_, err = l.Open(context.Background(), runtimetest.Spec())
	var missing *sandbox.UnsupportedError
	fmt.Println("open:", errors.As(err, &missing), err)
	return 0
}

func TestNamespacesRefused(t *testing.T) {
	newTestLocal(t)
	cmd := exec.Command(self(t), refusedArg, launchPath)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil || !strings.Contains(text, "probe: user namespaces: switched off") || !strings.Contains(text, "open: true user namespaces: switched off") {
		t.Errorf("%v: %s", err, text)
	}
}
