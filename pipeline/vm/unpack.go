package vm

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Limits of what a guest may send as results.
const (
	MaxResultBytes = 8 << 30
	maxResultFiles = 500_000
	maxResultDepth = 8
)

var errResults = errors.New("results of the virtual machine")

// unpack writes an archive of plain files and folders below root, which never lets a name leave it. Nothing is overwritten.
func unpack(root *os.Root, r io.Reader, maxBytes int64) error {
	tr := tar.NewReader(r)
	for n := 0; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errResults, err)
		}
		if n >= maxResultFiles {
			return fmt.Errorf("%w: more than %d files", errResults, maxResultFiles)
		}
		if h.Size > maxBytes {
			return fmt.Errorf("%w: more than the %d bytes that are left", errResults, maxBytes)
		}
		maxBytes -= h.Size
		if err := unpackOne(root, h, tr); err != nil {
			return fmt.Errorf("%w: %q: %w", errResults, h.Name, err)
		}
	}
}

func unpackOne(root *os.Root, h *tar.Header, r io.Reader) error {
	name := path.Clean(h.Name)
	if !filepath.IsLocal(name) || depth(name) > maxResultDepth {
		return errors.New("name leads out of its folder or is too deep")
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case tar.TypeReg:
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = io.CopyN(f, r, h.Size)
		return errors.Join(err, f.Close())
	}
	return fmt.Errorf("type %q is neither file nor folder", h.Typeflag)
}

func depth(name string) int { return strings.Count(name, "/") + 1 }

// pack writes the files and folders below dir.
func pack(w io.Writer, dir string) error {
	tw := tar.NewWriter(w)
	if err := tw.AddFS(os.DirFS(dir)); err != nil {
		return fmt.Errorf("%w: %w", errResults, err)
	}
	return tw.Close()
}
