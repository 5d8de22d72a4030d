package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lockName  = "transportbench.lock"
	lockPoll  = 250 * time.Millisecond // flock cannot be waited for together with a context
	ownerSize = 200                    // bytes of the file that are read back: any user may have written it
)

// LockPath is the file that is the lock of this machine. root and users have to meet on one: it is
// /run/lock/transportbench.lock where every user may write there, else /tmp/transportbench.lock, mode 0666. It is never removed,
// because a removed file can be locked twice. Machines seen from containers with their own /tmp have locks of their own.
func LockPath() string { return filepath.Join(lockDirFor(os.DirFS("/")), lockName) }

// lockDirFor decides by the folder's mode and not by what this process may do, so that everyone decides alike.
func lockDirFor(root fs.FS) string {
	info, err := fs.Stat(root, "run/lock")
	if err == nil && info.IsDir() && info.Mode().Perm()&0o002 != 0 {
		return "/run/lock"
	}
	return "/tmp"
}

// Lock takes the lock at path (LockPath, but for tests, which must not wait for measurements). notify is called once with the
// owner's description before waiting or sharing. release must be called once; shared is true when another benchmark runs beside
// this one.
func Lock(ctx context.Context, path string, mode LockMode, notify func(owner string)) (release func(), shared bool, err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, false, err
	}
	told := false
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return own(f), false, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		}
		owner := readOwner(f)
		if mode == LockNoWait {
			f.Close()
			return nil, false, &BusyError{Owner: owner}
		}
		if !told && notify != nil {
			notify(owner)
		}
		told = true
		if mode == LockShared {
			f.Close()
			return func() {}, true, nil
		}
		if err := pause(ctx, lockPoll); err != nil {
			f.Close()
			return nil, false, fmt.Errorf("lock %s, held by %s: %w", path, owner, err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// own writes who holds the lock, for the message of whoever waits. The text is a courtesy: its errors do not matter.
func own(f *os.File) func() {
	_ = f.Truncate(0)
	_, _ = fmt.Fprintf(f, "pid %d of user %d\n", os.Getpid(), os.Geteuid())
	return func() {
		_ = f.Truncate(0)
		f.Close()
	}
}

func readOwner(f *os.File) string {
	buf := make([]byte, ownerSize)
	n, _ := f.ReadAt(buf, 0)
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, string(buf[:n]))
	if text == "" {
		return "owner unknown"
	}
	return text
}

// openLock opens the file or makes it. O_CREAT and an existing file are kept apart: with fs.protected_regular even root may
// not open another user's file in /tmp with O_CREAT.
func openLock(path string) (*os.File, error) {
	for range 10 { // the file appears, or gets its mode, between two steps of another process
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			err = createLock(path)
			if err == nil || errors.Is(err, unix.EEXIST) {
				continue
			}
		}
		if err != nil && !errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("lock %s: %w; remove it if it is not a file of a benchmark", path, err)
		}
		if err == nil {
			return checkLock(os.NewFile(uintptr(fd), path))
		}
	}
	return nil, fmt.Errorf("lock %s: %w; have its owner run chmod 666 on it", path, unix.EACCES)
}

func createLock(path string) error {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Fchmod(fd, 0o666) // the umask took the others' right to write
}

// checkLock refuses what could be a trap: a device, a pipe, or a hard link to a file that own would empty.
func checkLock(f *os.File) (*os.File, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	if err == nil && (st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1) {
		err = errors.New("is not a plain file with one name; remove it")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return f, nil
}
