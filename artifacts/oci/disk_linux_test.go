package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/artifacts/disktest"
)

func TestMain(m *testing.M) { disktest.Main(m, "256k", pullToFullDisk) }

// TestPullToAFullDisk pulls 1 MiB onto a real file system of 256 KiB.
func TestPullToAFullDisk(t *testing.T) {
	lay := t.TempDir()
	push(t, artifact(t, 1<<20), layoutRef(t, lay, "x"), PushOptions{})
	disktest.Run(t, lay)
}

func pullToFullDisk(mount string, args []string) error {
	_, err := impatient().Pull(context.Background(), Ref{Layout: args[0], Tag: "x"}, PullOptions{Dir: filepath.Join(mount, "copy")})
	if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "make room") {
		return fmt.Errorf("%w, want no space left", err)
	}
	left, err := os.ReadDir(mount)
	if err != nil || len(left) > 0 {
		return fmt.Errorf("left on disk: %v %w", left, err)
	}
	return nil
}
