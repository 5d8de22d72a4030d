package drivers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"transportbench/transports/wire"
)

// Driver is one driver as found: either a binary with its digest and its own description, or the reason why there is none.
type Driver struct {
	Name     string         `json:"name"`
	Path     string         `json:"path,omitempty"`
	SHA256   string         `json:"sha256,omitempty"`
	Describe *wire.Describe `json:"describe,omitempty"`
	Missing  string         `json:"missing,omitempty"` // why it cannot be used, with the fix; a run of it is unsupported
	Drift    string         `json:"drift,omitempty"`   // how it differs from pins.json: a flag, never an error
	Bound    bool           `json:"bound,omitempty"`   // brought by the user with --driver
}

// Dir returns the folder that holds the drivers: flag (--drivers) if given, else ../libexec/transportbench beside the folder of bench,
// else .build/<GOOS>-<GOARCH> in the working folder. PATH is never searched.
func Dir(flag, executable string) (string, error) {
	if flag != "" {
		return flag, checkDir(flag)
	}
	installed := filepath.Join(filepath.Dir(executable), "..", "libexec", "transportbench")
	built := BuildDir(".")
	for _, d := range []string{installed, built} {
		if checkDir(d) == nil {
			return filepath.Clean(d), nil
		}
	}
	return "", fmt.Errorf("drivers: neither %s nor %s is a folder; run `bench drivers build` or give --drivers DIR", filepath.Clean(installed), built)
}

// BuildDir is where Build puts binaries for this system, below the root of the checkout.
func BuildDir(root string) string {
	return filepath.Join(root, ".build", runtime.GOOS+"-"+runtime.GOARCH)
}

func checkDir(dir string) error {
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = errors.New("not a folder")
	}
	var where *fs.PathError
	if errors.As(err, &where) {
		err = where.Err // the folder is named already
	}
	if err != nil {
		return fmt.Errorf("drivers folder %s: %w; run `bench drivers build` or give --drivers DIR", dir, err)
	}
	return nil
}

// Find looks every name up: in bound (from --driver name=path) first, then in dir. A driver that is not there, is no program or does not
// answer `describe` comes back with Missing set; the caller's runs of it become unsupported.
func Find(ctx context.Context, dir string, bound map[string]string, names []string) []Driver {
	var found []Driver
	for _, name := range names {
		path, ok := bound[name]
		if !ok {
			path = filepath.Join(dir, name)
		}
		found = append(found, inspect(ctx, Driver{Name: name, Path: path, Bound: ok}))
	}
	return found
}

// inspect fills what a driver's file says. Missing goes into artifacts, so it names no folder of this machine.
func inspect(ctx context.Context, d Driver) Driver {
	abs, err := filepath.Abs(d.Path)
	if err == nil {
		d.Path = abs
		d.SHA256, err = Digest(abs)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if d.Missing = Reason(d.Path); d.Missing != "" {
			return d
		}
		what := "not built: no such file"
		if d.Bound {
			what = "is not where --driver says: no such file"
		}
		d.Missing = fmt.Sprintf("driver %s %s; %s", d.Name, what, fix(d))
		return d
	}
	if err == nil {
		d.Describe, err = Describe(ctx, d.Path)
	}
	if err != nil {
		text := strings.ReplaceAll(err.Error(), filepath.Dir(d.Path)+string(filepath.Separator), "")
		d.Missing = fmt.Sprintf("driver %s: %s; %s", d.Name, text, fix(d))
	}
	return d
}

func fix(d Driver) string {
	if d.Bound || !Known(d.Name) {
		return "bind it with --driver " + d.Name + "=./path"
	}
	return "run `bench drivers build`"
}

// Digest returns the SHA-256 of a regular file, hex.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // read only
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", errors.Join(errors.New(path+" is not a file"), err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// List describes every driver of this repository, those over other cores that were built, and every bound one.
func List(ctx context.Context, dir string, bound map[string]string) []Driver {
	names := Names()
	extra := Unpinned(dir)
	for name := range bound {
		if !slices.Contains(names, name) && !slices.Contains(extra, name) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	return Find(ctx, dir, bound, append(names, extra...))
}

// Unpinned names the drivers in dir that were built over another core than the pinned one.
func Unpinned(dir string) []string {
	paths, err := filepath.Glob(filepath.Join(dir, columnOf("*")))
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range paths {
		if n := filepath.Base(p); !strings.HasSuffix(n, ".new") && !strings.HasSuffix(n, sourcesSuffix) {
			names = append(names, n)
		}
	}
	return names
}
