package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFloorOfRSS is the reason for this program: the parent's memory must not show in the driver's peak.
func TestFloorOfRSS(t *testing.T) {
	ballast, err := unix.Mmap(-1, 0, 300<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	_, exit, _ := run(t, "--", programs.probe, "exit", "0")
	if err := unix.Munmap(ballast); err != nil {
		t.Fatal(err)
	}
	if exit.MaxRSSKiB <= 0 || exit.MaxRSSKiB >= 1024 {
		t.Errorf("trivial driver peaks at %d KiB under a parent of 300 MiB, want 1 to 1023", exit.MaxRSSKiB)
	}
	_, exit, _ = run(t, "--", programs.probe, "touch", "64")
	if exit.MaxRSSKiB < 64<<10 || exit.MaxRSSKiB > 66<<10 {
		t.Errorf("driver touching 64 MiB peaks at %d KiB", exit.MaxRSSKiB)
	}
	if exit.UserUS+exit.SystemUS <= 0 {
		t.Error("processor time is missing")
	}
}

// started is a launcher whose driver has said its pid.
type started struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	driver int
}

func start(t *testing.T, mode string) *started {
	t.Helper()
	cmd := exec.Command(programs.launch, "--", programs.probe, mode)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &started{cmd: cmd, stdout: bufio.NewReader(pipe)}
	if _, err := fmt.Fscanln(s.stdout, &s.driver); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *started) rest(t *testing.T) []byte {
	t.Helper()
	out, err := io.ReadAll(s.stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); s.cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out
}

func TestSignalsAreForwarded(t *testing.T) {
	for _, c := range []struct {
		mode         string
		send         syscall.Signal
		code, signal int
	}{
		{"catch", syscall.SIGTERM, 40 + 15, 0}, // an orderly end: the driver's own code
		{"catch", syscall.SIGINT, 40 + 2, 0},
		{"pause", syscall.SIGTERM, 128 + 15, 15},
		{"pause", syscall.SIGINT, 128 + 2, 2},
		{"family", syscall.SIGTERM, 128 + 15, 15}, // a grandchild in the group ignores it and must not keep stdout open
	} {
		t.Run(fmt.Sprintf("%s %d", c.mode, int(c.send)), func(t *testing.T) {
			s := start(t, c.mode)
			if err := s.cmd.Process.Signal(c.send); err != nil {
				t.Fatal(err)
			}
			_, exit := split(t, s.rest(t))
			if code := s.cmd.ProcessState.ExitCode(); code != c.code || exit.Signal != c.signal {
				t.Errorf("code %d signal %d, want %+v", code, exit.Signal, c)
			}
		})
	}
}

func TestDriverDiesWithItsLauncher(t *testing.T) {
	s := start(t, "pause")
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The driver holds the other end of the pipe: end of file means that it is gone.
	if out := s.rest(t); len(out) != 0 {
		t.Errorf("output after the launcher was killed: %q", out)
	}
}

func TestHalfALineIsClosed(t *testing.T) {
	out, exit, _ := run(t, "--", programs.probe, "half")
	if out != `{"type":"res` || exit.Signal != int(syscall.SIGKILL) {
		t.Errorf("driver's part %q, record %+v", out, exit)
	}
}

func TestPID1ReapsOrphans(t *testing.T) {
	cmd := exec.Command(programs.launch, "--", programs.probe, "orphan")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skip("user and pid namespaces are not permitted here")
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// The probe is process 2 and waits, without a clock, until its orphaned grandchild is no longer known to the kernel.
	if driver, exit := split(t, out); driver != "gone\n" || exit.Status != 0 {
		t.Errorf("driver printed %q, record %+v", driver, exit)
	}
}
