package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

func TestLockModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), lockName)
	release, shared, err := Lock(t.Context(), path, LockNoWait, nil)
	if err != nil || shared {
		t.Fatalf("first lock: shared %v, %v", shared, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("lock file %v: want mode 0666 for every user (%v)", info.Mode(), err)
	}
	var busy *BusyError
	if _, _, err := Lock(t.Context(), path, LockNoWait, nil); !errors.As(err, &busy) || !strings.Contains(err.Error(), "pid ") {
		t.Errorf("second lock: %v, want a *BusyError that names the owner", err)
	}
	told := ""
	end, shared, err := Lock(t.Context(), path, LockShared, func(owner string) { told = owner })
	if err != nil || !shared || told == "" {
		t.Errorf("shared lock: shared %v, told %q, %v", shared, told, err)
	}
	end()
	release()
	release, shared, err = Lock(t.Context(), path, LockShared, nil)
	if err != nil || shared {
		t.Errorf("lock after release: shared %v, %v", shared, err)
	}
	release()
}

// TestLockWaits lets the first owner go as soon as the second says that it waits.
func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), lockName)
	first, _, err := Lock(t.Context(), path, LockWait, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	second, shared, err := Lock(t.Context(), path, LockWait, func(string) { calls++; first() })
	if err != nil || shared || calls != 1 {
		t.Fatalf("second lock: shared %v, told %d times, %v", shared, calls, err)
	}
	second()
}

func TestLockWaitEndsWithContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), lockName)
	release, _, err := Lock(t.Context(), path, LockWait, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err = Lock(ctx, path, LockWait, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want the context's", err)
	}
}

// TestLockRefusesTraps: what another user may have put there must not be written to or block.
func TestLockRefusesTraps(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(path, victim string) error
	}{
		{"symbolic link", func(path, victim string) error { return os.Symlink(victim, path) }},
		{"hard link", func(path, victim string) error { return os.Link(victim, path) }},
		{"pipe", func(path, _ string) error { return unix.Mkfifo(path, 0o666) }},
		{"folder", func(path, _ string) error { return os.Mkdir(path, 0o777) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path, victim := filepath.Join(dir, lockName), filepath.Join(dir, "victim")
			if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := c.make(path, victim); err != nil {
				t.Fatal(err)
			}
			_, _, err := Lock(t.Context(), path, LockWait, nil)
			if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v: want one line that names the file", err)
			}
			if b, _ := os.ReadFile(victim); string(b) != "precious" {
				t.Errorf("victim holds %q", b)
			}
		})
	}
}

// TestLockOwnerText: the file is writable for all, so its text is not to be trusted on a terminal.
func TestLockOwnerText(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := readOwner(f); got != "owner unknown" {
		t.Errorf("empty file: %q", got)
	}
	if _, err := f.WriteString("\x1b[2Jevil\n" + strings.Repeat("a", 4096)); err != nil {
		t.Fatal(err)
	}
	if got := readOwner(f); !strings.HasPrefix(got, "[2Jevil") || len(got) > ownerSize {
		t.Errorf("owner %q", got)
	}
}

func TestLockFolder(t *testing.T) {
	for _, c := range []struct {
		mode os.FileMode
		want string
	}{{os.ModeDir | os.ModeSticky | 0o777, "/run/lock"}, {os.ModeDir | 0o755, "/tmp"}, {0o777, "/tmp"}} {
		if got := lockDirFor(fstest.MapFS{"run/lock": {Mode: c.mode}}); got != c.want {
			t.Errorf("/run/lock of mode %v: lock in %s, want %s", c.mode, got, c.want)
		}
	}
	if got := lockDirFor(fstest.MapFS{}); got != "/tmp" {
		t.Errorf("no /run/lock: lock in %s", got)
	}
}
