package artifacts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"transportbench/artifacts/disktest"
)

func TestMain(m *testing.M) { disktest.Main(m, "96k", fillDisk) }

// TestFullDiskLosesNothing fills a real file system of 96 KiB until an append fails, frees it, resumes and finishes.
func TestFullDiskLosesNothing(t *testing.T) { disktest.Run(t) }

func fillDisk(mount string, _ []string) error {
	const n = 200
	dir := filepath.Join(mount, "a")
	w, err := Create(dir, manifest(n), planTSV(n))
	if err != nil {
		return err
	}
	written := 0
	for ; written < n && err == nil; written++ {
		if err = w.Append(record(written, 1, 2, 3)); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("after %d lines: %w, want no space left", written, err)
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := disktest.Resize(mount, "4m"); err != nil {
		return err
	}
	return finish(dir, written, n)
}

// finish resumes with the disk made larger and checks that every line written before is there.
func finish(dir string, written, n int) error {
	r, err := OpenResume(dir)
	if err != nil {
		return err
	}
	if len(r.Found.Records) != written {
		return fmt.Errorf("%d lines survived of %d", len(r.Found.Records), written)
	}
	if err := r.AppendResume(&r.Resume); err != nil {
		return err
	}
	for i := written; i < n; i++ {
		if err := r.Append(record(i, 1, 2, 3)); err != nil {
			return err
		}
	}
	if err := r.Seal(r.Manifest()); err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	rep, err := Verify(dir)
	return errors.Join(append(rep.Findings, err)...)
}

func TestUnwritableFolderIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		// root writes everywhere; a file in the way is refused for everybody
		file := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(file, nil, 0o644))
		if _, err := Create(filepath.Join(file, "a"), manifest(1), planTSV(1)); !errors.Is(err, syscall.ENOTDIR) {
			t.Fatalf("%v, want not a folder", err)
		}
		return
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o500))
	if _, err := Create(filepath.Join(dir, "a"), manifest(1), planTSV(1)); !errors.Is(err, os.ErrPermission) {
		t.Fatalf("%v, want permission denied", err)
	}
}
