package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/link"
	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

var _ sandbox.Runtime = (*sandbox.Local)(nil)

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConformance(t *testing.T) {
	runtimetest.Suite{Runtime: newTestLocal(t), Probe: self(t)}.Run(t)
}

// TestAutoBackend opens what the plan left open: with a delay the backend that only drops must not be taken.
func TestAutoBackend(t *testing.T) {
	l := newTestLocal(t)
	for _, delay := range []time.Duration{0, 5 * time.Millisecond} {
		spec := runtimetest.Spec()
		spec.Link.Backend, spec.Link.LossPPM, spec.Link.DelayNS = "auto", 10_000, delay
		env, err := l.Open(t.Context(), spec)
		var missing *sandbox.UnsupportedError
		var missingLink *link.UnsupportedError
		if errors.As(err, &missing) && errors.As(err, &missingLink) {
			t.Skip("unsupported: ", missing)
		}
		if err != nil {
			t.Fatal(err)
		}
		st := env.Link()
		if st.DelayNS != delay || st.LossPPM < 9_999 || st.LossPPM > 10_001 {
			t.Errorf("link with a delay of %s: %+v", delay, st)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestHostNetworkUnchanged opens a network and looks at the host's before, during and after.
func TestHostNetworkUnchanged(t *testing.T) {
	l := newTestLocal(t)
	before := snapshot(t)
	env, err := l.Open(t.Context(), runtimetest.Spec())
	if err != nil {
		t.Fatal(err)
	}
	during := snapshot(t)
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	for _, later := range []sandbox.NetState{during, snapshot(t)} {
		if diff := before.Diff(later); len(diff) > 0 {
			t.Errorf("host network changed: %q", diff)
		}
	}
}

func snapshot(t *testing.T) sandbox.NetState {
	t.Helper()
	s, err := sandbox.NetSnapshot(os.DirFS("/"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parentArg makes the test program a bench that is killed in the middle of a run.
const parentArg = "__parent"

// parentMain opens a network, starts a driver that leaves a grandchild, says so and waits to be killed.
func parentMain(args []string) int {
	if err := parent(args[0], args[1]); err != nil {
		fmt.Println(err)
	}
	return 1
}

func parent(launch, token string) error {
	l, err := sandbox.NewLocal(launch)
	if err != nil {
		return err
	}
	env, err := l.Open(context.Background(), runtimetest.Spec())
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := env.Start(context.Background(), sandbox.ProcSpec{
		Name: "server", Path: exe, Args: []string{runtimetest.ProbeArg, "tree", token},
	})
	if err != nil {
		return err
	}
	if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
		return err
	}
	fmt.Println("running")
	return p.Wait()
}

// TestKilledParentLeavesNothing sends SIGKILL to a bench whose holder, launch, driver and grandchild run.
func TestKilledParentLeavesNothing(t *testing.T) {
	newTestLocal(t)
	token := "token-" + strconv.Itoa(os.Getpid())
	tmp := t.TempDir()
	cmd := exec.Command(self(t), parentArg, launchPath, token)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "running\n" {
		t.Fatalf("bench under test said %q: %v", line, err)
	}
	inside := descendants(t, cmd.Process.Pid)
	if len(inside) != 4 {
		t.Errorf("processes under bench: %d, want holder, launch, driver and grandchild", len(inside))
	}
	checkSession(t, cmd.Process.Pid, inside)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for pid, fd := range inside {
		awaitEnd(t, pid, fd)
	}
	checkStraysRemoved(t, tmp)
}

// checkSession: Ctrl-C goes to the foreground group of bench's session, so nothing below may be in it.
func checkSession(t *testing.T, bench int, inside map[int]int) {
	t.Helper()
	own, err := unix.Getsid(bench)
	if err != nil {
		t.Fatal(err)
	}
	for pid := range inside {
		if sid, err := unix.Getsid(pid); err != nil || sid == own {
			t.Errorf("process %d is in session %d of bench (%v)", pid, sid, err)
		}
	}
}

// checkStraysRemoved starts the next runtime in the same folder and expects only its own results there.
func checkStraysRemoved(t *testing.T, tmp string) {
	t.Helper()
	left, _ := filepath.Glob(filepath.Join(tmp, "transportbench-results-*"))
	if len(left) != 1 {
		t.Fatalf("results folders after the kill: %q, want one", left)
	}
	t.Setenv("TMPDIR", tmp)
	l := newTestLocal(t)
	if _, err := os.Stat(left[0]); !os.IsNotExist(err) {
		t.Errorf("results folder of the killed bench: %v, want it removed", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ = filepath.Glob(filepath.Join(tmp, "*")); len(left) != 0 {
		t.Errorf("left after close: %q", left)
	}
}

// descendants returns a pidfd for every process below root.
func descendants(t *testing.T, root int) map[int]int {
	t.Helper()
	found := map[int]int{}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			b, err := os.ReadFile(path)
			i := bytes.LastIndexByte(b, ')')
			if err != nil || i < 0 {
				continue
			}
			var state string
			var ppid int
			if _, err := fmt.Sscan(string(b[i+1:]), &state, &ppid); err != nil || ppid != queue[0] {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				continue
			}
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				continue
			}
			t.Cleanup(func() { unix.Close(fd) })
			found[pid], queue = fd, append(queue, pid)
		}
	}
	return found
}

// awaitEnd waits on the pidfd, which becomes readable when the process has ended.
func awaitEnd(t *testing.T, pid, fd int) {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 10_000)
		if err == unix.EINTR {
			continue
		}
		if n != 1 {
			t.Errorf("process %d: alive 10 s after its bench was killed (%v)", pid, err)
		}
		return
	}
}
