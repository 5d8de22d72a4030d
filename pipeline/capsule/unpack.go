package capsule

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Open is an unpacked capsule, ready for an offline build.
type Open struct {
	Info
	Source string // folder of the checkout
	dir    string
}

// Unpack writes the capsule in file below the empty folder dir. Nothing is written outside of it, and not more than the limits allow.
func Unpack(file, dir string) (*Open, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("capsule: %w", err)
	}
	defer func() { _ = root.Close() }() // every file is closed
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("capsule: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	if err := extract(f, root); err != nil {
		return nil, fmt.Errorf("capsule %s: %w", file, err)
	}
	info, err := readInfo(root)
	if err != nil {
		return nil, fmt.Errorf("capsule %s: %w", file, err)
	}
	o := &Open{Info: info, Source: filepath.Join(abs, sourceDir), dir: abs}
	if err := o.place(root); err != nil {
		return nil, fmt.Errorf("capsule %s: %w", file, err)
	}
	return o, nil
}

func extract(r io.Reader, root *os.Root) error {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	defer z.Close()
	t, left := tar.NewReader(z), int64(maxBytes)
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		if left -= h.Size; n == maxFiles || left < 0 {
			return fmt.Errorf("%w: over %d files or %d bytes", ErrMalformed, maxFiles, int64(maxBytes))
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)) {
			return fmt.Errorf("%w: %.200q is no plain file below the folder", ErrMalformed, h.Name)
		}
		if err := put(root, h.Name, t); err != nil {
			return err
		}
	}
}

func put(root *os.Root, name string, r io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// place checks the pinned archive against the pins of the source and puts it where a build looks for it: the cache of a user of its own.
func (o *Open) place(root *os.Root) error {
	b, err := fs.ReadFile(root.FS(), pinsFile)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	p, err := readPins(b)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, pinsFile, err)
	}
	archive, err := fs.ReadFile(root.FS(), archivesDir+"/"+kcpFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // Missing says so
	}
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(archive)); got != p.KCP.SHA256 || !filepath.IsLocal(p.KCP.Commit) {
		return fmt.Errorf("%w: the archive of kcp has SHA-256 %s, pinned is %s", ErrMalformed, got, p.KCP.SHA256)
	}
	place := path.Join("cache", "transportbench", "kcp", p.KCP.Commit)
	if err := root.MkdirAll(place, 0o755); err != nil {
		return err
	}
	return root.WriteFile(place+"/archive.tar.gz", archive, 0o644)
}

// Env is what a build below Source sees instead of this machine's caches and the network: modules come from the capsule alone, are checked
// by go.sum, and the toolchain is the one that is here. Go's build cache is keyed by content and is used as it is.
func (o *Open) Env(environ []string, buildCache string) []string {
	modules := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(filepath.Join(o.dir, modulesDir)), "/")}
	return append(environ,
		"GOPROXY="+modules.String(), "GOSUMDB=off", "GONOPROXY=none", "GOPRIVATE=", "GOVCS=*:off", "GOTOOLCHAIN=local", "GOFLAGS=",
		"GOWORK=off", "GOMODCACHE="+filepath.Join(o.dir, "modcache"), "GOCACHE="+buildCache, "XDG_CACHE_HOME="+filepath.Join(o.dir, "cache"), "KCP_SRC=")
}

// Peek reads the description of the capsule in file, its first entry, and unpacks nothing.
func Peek(file string) (Info, error) {
	var i Info
	f, err := os.Open(file)
	if err != nil {
		return i, fmt.Errorf("capsule: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return i, fmt.Errorf("capsule %s: %w: %w", file, ErrMalformed, err)
	}
	defer z.Close()
	t := tar.NewReader(z)
	h, err := t.Next()
	if err != nil || h.Name != infoFile {
		return i, fmt.Errorf("capsule %s: %w: it does not begin with %s", file, ErrMalformed, infoFile)
	}
	if i, err = decodeInfo(t); err != nil {
		return i, fmt.Errorf("capsule %s: %w", file, err)
	}
	return i, nil
}
