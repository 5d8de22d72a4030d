// Package kcp holds no Go code but the tests of the C driver. The C files begin with a build constraint so that the Go tool does not take
// them for cgo.
package kcp

import (
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// An older official core, for tests where the pinned commit cannot be had.
const (
	corePackage   = "node-kcp"
	coreVersion   = "1.0.13"
	coreIntegrity = "oZS++zheKSkcNLlvKZvCv5QEp60sRdCKHV96/V+tFCkeGcjbwkNBBIRvonSIyOLHKs2/E9A2zPVulsgHdoTnWA==" // SHA-512 of the archive
)

// unsupportedError names what this machine lacks; the only reason to skip a test.
type unsupportedError struct{ missing string }

func (e *unsupportedError) Error() string { return "unsupported: " + e.missing }

// workDir holds what is built once for all tests.
var workDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kcp-c")
	if err == nil && os.Getenv(insideVar) != "" {
		err = loopbackUp()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workDir = dir
	code, ran := 0, false
	if os.Getenv(insideVar) == "" {
		code, ran = inNamespace()
	}
	if !ran {
		code = m.Run()
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// core is the folder of the protocol core: KCP_SRC, or the one in the npm package.
var core = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("KCP_SRC"); dir != "" {
		return filepath.Abs(dir)
	}
	return packagedCore()
})

// packagedCore fetches the package with npm, without running anything of it, and checks the archive's digest.
func packagedCore() (string, error) {
	if _, err := exec.LookPath("npm"); err != nil {
		return "", &unsupportedError{"kcp core source: neither KCP_SRC nor npm"}
	}
	dir := filepath.Join(workDir, "core")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name := corePackage + "@" + coreVersion
	fetch := exec.Command("npm", "pack", "--silent", "--prefer-offline", "--fetch-retries=1", "--fetch-timeout=10000", "--pack-destination="+dir, name)
	if out, err := fetch.CombinedOutput(); err != nil {
		return "", &unsupportedError{fmt.Sprintf("kcp core source: npm pack %s: %v: %.200s; set KCP_SRC", name, err, out)}
	}
	archive := filepath.Join(dir, corePackage+"-"+coreVersion+".tgz")
	b, err := os.ReadFile(archive)
	if err != nil {
		return "", err
	}
	if sum := sha512.Sum512(b); base64.StdEncoding.EncodeToString(sum[:]) != coreIntegrity {
		return "", fmt.Errorf("%s: sha512 is %x, not the pinned one", name, sum)
	}
	if out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return filepath.Join(dir, "package", "src", "kcp"), nil
}

// mustCore returns the core's folder, or skips the test when it cannot be had.
func mustCore(t *testing.T) string {
	t.Helper()
	dir, err := core()
	skipUnsupported(t, err)
	return dir
}

// skipUnsupported ends the test when err is not nil, and skips it only for what the machine lacks.
func skipUnsupported(t *testing.T, err error) {
	t.Helper()
	var missing *unsupportedError
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
}
