//go:build unix

package artifacts

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the names in a folder durable.
func syncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return at(name, 0, err)
	}
	defer func() { _ = d.Close() }()
	return at(name, 0, d.Sync())
}

// lock keeps a second writer out; the kernel drops it with the process, so a kill leaves no stale lock.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}
