package capsule

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// entry is one file of a capsule: its bytes, or the path that has them.
type entry struct {
	name string
	data []byte
	path string
}

// Pack writes the capsule of the commit that the checkout at root is at into out, which must not exist. The same commit, toolchain and
// archives give the same bytes. Programs lists the packages that are compiled, kcpArchive is a file with the pinned archive or empty.
func Pack(ctx context.Context, root, out string, programs []string, kcpArchive string) (Info, error) {
	info := Info{Archives: map[string]string{}}
	var err error
	if info.Commit, err = output(ctx, root, "git", "rev-parse", "HEAD"); err != nil {
		return info, fmt.Errorf("capsule: %w; it is made in a git checkout", err)
	}
	if info.Toolchain, err = output(ctx, root, "go", "env", "GOVERSION"); err != nil {
		return info, fmt.Errorf("capsule: %w", err)
	}
	files, err := sourceFiles(ctx, root)
	if err != nil {
		return info, err
	}
	modules, n, err := moduleFiles(ctx, root, programs)
	if err != nil {
		return info, err
	}
	info.Modules = n
	archives, err := info.archives(files, kcpArchive)
	if err != nil {
		return info, err
	}
	head, err := info.encode()
	if err != nil {
		return info, err
	}
	all := append([]entry{{name: infoFile, data: head}}, sorted(slices.Concat(files, modules, archives))...)
	return info, writeNew(out, all)
}

func sorted(all []entry) []entry {
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return all
}

// sourceFiles is the tree of HEAD, whatever stands beside it in the checkout.
func sourceFiles(ctx context.Context, root string) ([]entry, error) {
	out, err := run(ctx, root, "git", "archive", "--format=tar", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("capsule: %w", err)
	}
	var all []entry
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("capsule: git archive: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			b, err := io.ReadAll(r)
			if err != nil {
				return nil, fmt.Errorf("capsule: git archive: %w", err)
			}
			all = append(all, entry{name: sourceDir + "/" + h.Name, data: b})
		case tar.TypeDir, tar.TypeXGlobalHeader:
		default:
			return nil, fmt.Errorf("capsule: %s: only plain files can be packed", h.Name)
		}
	}
}

// writeNew writes the archive beside its place and gives it its name when it is whole.
func writeNew(out string, all []entry) (err error) {
	if _, err := os.Lstat(out); err == nil {
		return fmt.Errorf("capsule %s: exists already and is never overwritten", out)
	}
	tmp, err := os.CreateTemp(filepath.Dir(out), ".capsule-")
	if err != nil {
		return fmt.Errorf("capsule: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // a part of nothing
		}
	}()
	if err := errors.Join(write(tmp, all), tmp.Chmod(0o644), tmp.Close()); err != nil {
		return fmt.Errorf("capsule: %w", err)
	}
	return os.Rename(tmp.Name(), out)
}

// write fixes everything that a tar could say besides names and bytes.
func write(w io.Writer, all []entry) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, e := range all {
		b := e.data
		if e.path != "" {
			if b, err = os.ReadFile(e.path); err != nil {
				return err
			}
		}
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(b)), Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}); err != nil {
			return err
		}
		if _, err := t.Write(b); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS=linux", "LC_ALL=C")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s %s: %w: %.500s", name, args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	out, err := run(ctx, dir, name, args...)
	return strings.TrimSpace(string(out)), err
}
