package vm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Kernel is what the machine boots.
type Kernel struct {
	Image   string // bzImage on the host
	Modules string // folder of its modules, as lib/modules/<release>
	Config  string // its configuration; empty: unknown
	Release string // uname -r
	Package string // name and version; "file" when the user gave it
	SHA256  string // of Image, hex
	Pinned  bool
}

// pin is the kernel of one platform in pins.json.
type pin struct {
	Package string `json:"package"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`       // of the package file
	Image   string `json:"image_sha256"` // of the kernel in it
}

const maxPins = 1 << 20

// cacheName is the folder of unpacked kernels in the user's cache, by digest of their packages.
const cacheName = "transportbench/kernel"

// KernelFile describes a kernel that the user brings. modules is its lib/modules/<release>.
func KernelFile(image, modules string) (Kernel, error) {
	sum, err := hashFile(image)
	if err != nil {
		return Kernel{}, fmt.Errorf("kernel: %w", err)
	}
	k := Kernel{Image: image, Modules: modules, Release: filepath.Base(filepath.Clean(modules)), Package: "file", SHA256: sum}
	if config := filepath.Join(filepath.Dir(image), "config-"+k.Release); exists(config) {
		k.Config = config
	}
	return k, nil
}

// PinnedKernel returns the kernel that the pins file names, from the user's cache or, on Debian, from its archive.
func PinnedKernel(ctx context.Context, pins string) (Kernel, error) {
	p, err := readPin(pins)
	if err != nil {
		return Kernel{}, err
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return Kernel{}, fmt.Errorf("kernel cache: %w", err)
	}
	dir := filepath.Join(base, cacheName, p.SHA256)
	if !exists(dir) {
		if err := p.fetch(ctx, dir); err != nil {
			return Kernel{}, fmt.Errorf("kernel %s %s: %w", p.Package, p.Version, err)
		}
	}
	return p.cached(dir)
}

func readPin(file string) (pin, error) {
	var doc struct {
		Kernel map[string]pin `json:"kernel"`
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return pin{}, fmt.Errorf("pins: %w; run in the checkout, or give --kernel and --modules", err)
	}
	if len(b) > maxPins {
		return pin{}, fmt.Errorf("pins %s: over %d bytes", file, maxPins)
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return pin{}, fmt.Errorf("pins %s: %w", file, err)
	}
	platform := "linux/" + runtime.GOARCH
	p, ok := doc.Kernel[platform]
	if !ok {
		return pin{}, fmt.Errorf("pins %s: no kernel for %s; give --kernel and --modules", file, platform)
	}
	for _, s := range []string{p.SHA256, p.Image} {
		if b, err := hex.DecodeString(s); err != nil || len(b) != sha256.Size {
			return pin{}, fmt.Errorf("pins %s: kernel of %s: %q is not a SHA-256 in hex", file, platform, s)
		}
	}
	return p, nil
}

// cached checks the kernel again: a cache folder may have been changed.
func (p pin) cached(dir string) (Kernel, error) {
	release := strings.TrimPrefix(p.Package, "linux-image-")
	k := Kernel{
		Image: filepath.Join(dir, "boot", "vmlinuz-"+release), Modules: filepath.Join(dir, "lib", "modules", release),
		Config: filepath.Join(dir, "boot", "config-"+release), Release: release, Package: p.Package + " " + p.Version, Pinned: true,
	}
	var err error
	if k.SHA256, err = hashFile(k.Image); err != nil {
		return k, fmt.Errorf("kernel cache: %w; remove %s", err, dir)
	}
	if k.SHA256 != p.Image {
		return k, fmt.Errorf("kernel cache: %s is sha256:%s, pinned is %s; remove %s", k.Image, k.SHA256, p.Image, dir)
	}
	return k, nil
}

// fetch downloads and unpacks the package beside dir and moves it there when it is whole.
func (p pin) fetch(ctx context.Context, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := tool(ctx, tmp, "apt-get", "download", p.Package+"="+p.Version); err != nil {
		return fmt.Errorf("%w; run apt-get update, or take this version from Debian's snapshot archive, unpack it with dpkg-deb -x "+
			"and give --kernel and --modules", err)
	}
	debs, err := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if err != nil || len(debs) != 1 {
		return fmt.Errorf("%d packages were downloaded, want 1", len(debs))
	}
	sum, err := hashFile(debs[0])
	if err != nil {
		return err
	}
	if sum != p.SHA256 {
		return fmt.Errorf("downloaded sha256:%s, pinned is %s", sum, p.SHA256)
	}
	root := filepath.Join(tmp, "root")
	if err := tool(ctx, tmp, "dpkg-deb", "-x", debs[0], root); err != nil {
		return err
	}
	if err := os.Rename(root, dir); err != nil && !exists(dir) { // another bench may have been first
		return err
	}
	return nil
}

// tool runs one of Debian's programs; its last words are the error.
func tool(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s: not found: this is no Debian", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, lastLine(string(out)))
	}
	return nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func hashFile(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
