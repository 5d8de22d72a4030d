package carry

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

const (
	maxFile  = 256 << 20 // bytes of one carried file
	maxSums  = 64 << 10
	mode     = 0o755
	keptDirs = 0o700 // of the cache: what is run from it is this user's alone
)

// ErrNone says that a program carries nothing.
var ErrNone = errors.New("carries no other programs")

// carried is one file with the digest that it must have.
type carried struct{ sha256, name string }

// Unpack returns the folder below that of cache which holds what the program at path carries. The folder is called after the digest of its
// contents; it is filled at the first use, and every use checks each file, so that a damaged one is replaced. A program that carries
// nothing gives ErrNone, and cache is not asked.
func Unpack(path string, cache func() (string, error)) (string, error) {
	z, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return "", ErrNone
	}
	if err != nil {
		return "", fmt.Errorf("carried programs: %w", err)
	}
	defer func() { _ = z.Close() }() // read only
	list, err := read(&z.Reader, sumsName, maxSums)
	if err != nil {
		return "", err
	}
	files, err := parse(list)
	if err != nil {
		return "", err
	}
	below, err := cache()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(below, digest(list))
	if check(dir, files) == nil {
		return dir, nil
	}
	if err := fill(&z.Reader, below, dir, files); err != nil {
		return "", fmt.Errorf("carried programs: %w", err)
	}
	return dir, nil
}

// fill makes the folder beside its place and renames it, so that nobody sees half of it. Another process may have been faster.
func fill(z *zip.Reader, cache, dir string, files []carried) error {
	if err := os.MkdirAll(cache, keptDirs); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // gone already when all went well
	for _, f := range files {
		b, err := read(z, f.name, maxFile)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(tmp, f.name), b, mode); err != nil {
			return err
		}
	}
	if err := check(tmp, files); err != nil {
		return err
	}
	if os.Rename(tmp, dir) == nil || check(dir, files) == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil { // it is damaged
		return err
	}
	return os.Rename(tmp, dir)
}

// check compares every file in dir with its digest.
func check(dir string, files []carried) error {
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.name))
		if err != nil {
			return err
		}
		if digest(b) != f.sha256 {
			return fmt.Errorf("%s: has another digest than it was packed with; download the program again", f.name)
		}
		if st, err := os.Stat(filepath.Join(dir, f.name)); err != nil || st.Mode().Perm() != mode {
			return errors.Join(fmt.Errorf("%s: is not executable", f.name), err)
		}
	}
	return nil
}

func read(z *zip.Reader, name string, limit int64) ([]byte, error) {
	f, err := z.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("carried programs: %s is missing; download the program again", name)
	}
	if err != nil {
		return nil, fmt.Errorf("carried %s: %w", name, err)
	}
	defer func() { _ = f.Close() }() // read only
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("over %d bytes", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("carried %s: %w", name, err)
	}
	return b, nil
}

// sumLine names a plain file: what is unpacked stays in its folder.
var sumLine = regexp.MustCompile(`^([0-9a-f]{64})  ([a-z0-9][a-z0-9._-]{0,63})\n$`)

func parse(list []byte) ([]carried, error) {
	var files []carried
	for line := range bytes.Lines(list) {
		m := sumLine.FindSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("carried programs: %s: line %d is no digest and name", sumsName, len(files)+1)
		}
		files = append(files, carried{string(m[1]), string(m[2])})
	}
	return files, nil
}
