// Package disktest gives a test a small file system of its own, which needs no rights: the test program runs again in new user and mount
// namespaces.
package disktest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// runArg, as the first argument, turns a test program into the part that runs in namespaces of its own.
const runArg = "transportbench-on-a-small-disk"

// Main is a TestMain that also serves Run: there it mounts a tmpfs of the given size (as tmpfs(5) writes it) and calls work with its
// folder and Run's arguments. It does not return.
func Main(m *testing.M, size string, work func(mount string, args []string) error) {
	if len(os.Args) < 3 || os.Args[1] != runArg {
		os.Exit(m.Run())
	}
	mount := os.Args[2]
	err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size="+size)
	if err != nil {
		err = fmt.Errorf("mount tmpfs: %w", err)
	} else {
		err = work(mount, os.Args[3:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Resize changes the size of the file system at mount.
func Resize(mount, size string) error {
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
		return fmt.Errorf("remount tmpfs: %w", err)
	}
	return nil
}

// Run does the work that Main was given, with args, and skips where this machine has no such namespaces.
func Run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{runArg, t.TempDir()}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("unsupported: user and mount namespaces: %v", err)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
