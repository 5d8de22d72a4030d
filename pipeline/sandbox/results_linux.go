package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// resultsDir is a private folder (mode 0700) where drivers write samples. Its lock says that its owner lives, so that the
// next runtime can remove what a killed one left.
type resultsDir struct {
	dir  string
	lock *os.File

	mu   sync.Mutex
	next int
}

func resultsPrefix() string { return "transportbench-results-" + strconv.Itoa(os.Geteuid()) + "-" }

func newResultsDir(parent string) (*resultsDir, error) {
	removeStrays(parent)
	for range 3 { // a sweep of another bench may take the folder before it is locked
		dir, err := os.MkdirTemp(parent, resultsPrefix())
		if err != nil {
			return nil, fmt.Errorf("results folder in %s: %w; set TMPDIR to a writable folder", parent, err)
		}
		lock, err := lockDir(dir)
		if err != nil {
			continue
		}
		if _, err := os.Stat(dir); err == nil {
			return &resultsDir{dir: dir, lock: lock}, nil
		}
		lock.Close()
	}
	return nil, fmt.Errorf("results folder in %s: could not be kept; set TMPDIR to a folder of your own", parent)
}

// lockDir fails where another process holds the folder, or it is not ours.
func lockDir(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), dir)
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if err == nil && int(st.Uid) != os.Geteuid() {
		err = unix.EPERM
	}
	if err == nil {
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func removeStrays(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // newResultsDir reports an unusable parent
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), resultsPrefix()) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if lock, err := lockDir(dir); err == nil {
			_ = os.RemoveAll(dir)
			lock.Close()
		}
	}
}

// path returns a name that was not given out before.
func (r *resultsDir) path() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock == nil {
		return "", errors.New("results folder: the runtime is closed")
	}
	r.next++
	return filepath.Join(r.dir, strconv.Itoa(r.next)+".rtt"), nil
}

func (r *resultsDir) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock == nil {
		return nil
	}
	err := os.RemoveAll(r.dir)
	r.lock.Close()
	r.lock = nil
	return err
}

// moveFile copies across file systems and never overwrites.
func moveFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return os.Remove(from)
}
