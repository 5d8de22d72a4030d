package artifacts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// writeNew creates name, which must not exist, and returns when its bytes and its name are on disk.
// A file that could not be written whole is removed again.
func writeNew(root *os.Root, name string, write func(io.Writer) error) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return at(name, 0, existing(err))
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = root.Remove(name)
			err = at(name, 0, err)
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return syncDir(root, path.Dir(name))
}

// replace puts b in the place of name at once: readers see the old or the new file, never a part, and a crash leaves its part in the
// scratch folder, which the next resume empties.
func replace(root *os.Root, name string, b []byte) error {
	tmp := scratchDir + "/" + path.Base(name)
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return at(tmp, 0, err)
	}
	if err := writeNew(root, tmp, func(w io.Writer) error { return writeAll(w, b) }); err != nil {
		return err
	}
	if err := root.Rename(tmp, name); err != nil {
		return at(name, 0, err)
	}
	return syncDir(root, path.Dir(name))
}

func writeAll(w io.Writer, b []byte) error {
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		return io.ErrShortWrite
	}
	return err
}

func existing(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	return err
}

// open opens a regular file for reading. A symbolic link or a device is refused, and nothing outside root is reachable.
func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	st, err := root.Lstat(name)
	if err != nil {
		return nil, nil, at(name, 0, err)
	}
	if !st.Mode().IsRegular() {
		return nil, nil, atf(name, 0, ErrName, "not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, at(name, 0, err)
	}
	return f, st, nil
}

// readFile reads a whole file of at most limit bytes.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, st, err := open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	if st.Size() > limit {
		return nil, atf(name, 0, ErrLimit, "%d bytes, at most %d", st.Size(), limit)
	}
	b := make([]byte, st.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, at(name, 0, fmt.Errorf("read: %w", err))
	}
	return b, nil
}
