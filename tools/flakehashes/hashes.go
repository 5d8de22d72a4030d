package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/nix-community/go-nix/pkg/nar"
)

// file is where the hashes stand, in the root of the checkout.
const file = "flakehashes.json"

const fix = "run `go tool mage flakeHashes` and commit " + file

// hashes is flakehashes.json.
type hashes struct {
	VendorHash string            `json:"vendorHash"` // of the NAR of `go mod vendor`, in the form that buildGoModule wants: sha256-<base64>
	Of         map[string]string `json:"of"`         // SHA-256, hex, of the files it was made from, which Nix and a quick test compare
}

// run takes what to do and the root of the checkout.
func run(args []string) error {
	if len(args) != 2 {
		return errors.New("want `write DIR` or `check DIR`")
	}
	now, err := compute(args[1])
	if err != nil {
		return err
	}
	path := filepath.Join(args[1], file)
	switch args[0] {
	case "write":
		return os.WriteFile(path, now, 0o644)
	case "check":
		return check(path, now)
	}
	return fmt.Errorf("%q: want write or check", args[0])
}

func check(path string, now []byte) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w; %s", err, fix)
	}
	if !bytes.Equal(old, now) {
		return fmt.Errorf("%s differs from what the modules give now; %s:\n%s", file, fix, now)
	}
	return nil
}

// compute vendors the modules of the checkout at root, outside of it, and returns flakehashes.json.
func compute(root string) ([]byte, error) {
	h := hashes{Of: map[string]string{}}
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		h.Of[name] = hex.EncodeToString(sum[:])
	}
	tmp, err := os.MkdirTemp("", "vendor-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // scratch: what stays behind is in the way of nobody
	if h.VendorHash, err = vendor(root, filepath.Join(tmp, "vendor")); err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(h, "", "  ")
	return append(out, '\n'), err
}

// vendor does what buildGoModule does and hashes the folder as Nix does: SHA-256 of its NAR.
func vendor(root, dir string) (string, error) {
	cmd := exec.Command("go", "mod", "vendor", "-o", dir)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go mod vendor: %w: %s", err, bytes.TrimSpace(log.Bytes()))
	}
	return narHash(dir)
}

func narHash(dir string) (string, error) {
	h := sha256.New()
	if err := nar.DumpPath(h, dir); err != nil {
		return "", fmt.Errorf("nar of %s: %w", filepath.Base(dir), err)
	}
	return "sha256-" + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}
