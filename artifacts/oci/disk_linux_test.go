package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDiskArg turns this test program into the part that runs in namespaces of its own.
const fullDiskArg = "oci-full-disk"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == fullDiskArg {
		if err := pullToFullDisk(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestPullToAFullDisk pulls 1 MiB onto a real file system of 256 KiB.
func TestPullToAFullDisk(t *testing.T) {
	lay := t.TempDir()
	push(t, artifact(t, 1<<20), layoutRef(t, lay, "x"), PushOptions{})
	cmd := exec.Command("/proc/self/exe", fullDiskArg, lay, t.TempDir())
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

func pullToFullDisk(lay, mount string) error {
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=256k"); err != nil {
		return fmt.Errorf("mount tmpfs: %w", err)
	}
	_, err := impatient().Pull(context.Background(), Ref{Layout: lay, Tag: "x"}, PullOptions{Dir: filepath.Join(mount, "copy")})
	if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "make room") {
		return fmt.Errorf("%w, want no space left", err)
	}
	left, err := os.ReadDir(mount)
	if err != nil || len(left) > 0 {
		return fmt.Errorf("left on disk: %v %w", left, err)
	}
	return nil
}
