package vm

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cavaliergopher/cpio"
)

// maxGuestFile is the greatest size of a file that the guest gets (bytes): it lies in its memory.
const maxGuestFile = 1 << 30

// archive writes a cpio archive of the kind that the kernel unpacks (Documentation/driver-api/early-userspace/buffer-format.rst).
// Every folder comes before its files, every owner is root and every time is 0, so that equal input gives equal bytes.
type archive struct {
	w    *cpio.Writer
	dirs map[string]bool
}

func newArchive(w io.Writer) *archive { return &archive{cpio.NewWriter(w), map[string]bool{"/": true}} }

// folder adds dir and what is above it.
func (a *archive) folder(dir string) error {
	if a.dirs[dir] {
		return nil
	}
	if err := a.folder(path.Dir(dir)); err != nil {
		return err
	}
	a.dirs[dir] = true
	return a.w.WriteHeader(&cpio.Header{Name: dir[1:], Mode: cpio.TypeDir | 0o755, Links: 2, ModTime: time.Unix(0, 0)})
}

// file adds one file that everybody may read and run.
func (a *archive) file(name string, size int64, r io.Reader) error {
	if !path.IsAbs(name) || path.Clean(name) != name || size > maxGuestFile {
		return fmt.Errorf("initramfs: %q with %d bytes: want a clean absolute path and at most %d bytes", name, size, maxGuestFile)
	}
	if err := a.folder(path.Dir(name)); err != nil {
		return err
	}
	h := &cpio.Header{Name: name[1:], Mode: cpio.TypeReg | 0o755, Size: size, ModTime: time.Unix(0, 0)}
	if err := a.w.WriteHeader(h); err != nil {
		return fmt.Errorf("initramfs: %s: %w", name, err)
	}
	if _, err := io.CopyN(a.w, r, size); err != nil {
		return fmt.Errorf("initramfs: %s: %w", name, err)
	}
	return nil
}

func (a *archive) data(name string, b []byte) error {
	return a.file(name, int64(len(b)), bytes.NewReader(b))
}

// copy adds a file of the host.
func (a *archive) copy(name, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	if err != nil {
		return fmt.Errorf("initramfs: %s: %w", from, err)
	}
	return a.file(name, info.Size(), f)
}

// writeBase writes what does not depend on a job: mount points, init, and the kernel's modules with their list and configuration.
func writeBase(w io.Writer, k Kernel, init string, ms []module) error {
	a := newArchive(w)
	for _, d := range []string{"/dev", "/proc", "/sys", "/tmp", "/run", "/etc", "/vm"} {
		if err := a.folder(d); err != nil {
			return err
		}
	}
	if err := a.copy(BenchFile, init); err != nil {
		return err
	}
	lib := "/lib/modules/" + k.Release + "/"
	for _, m := range ms {
		if err := a.data(lib+m.path, m.data); err != nil {
			return err
		}
	}
	if err := a.data(lib+"modules.dep", depFile(ms)); err != nil {
		return err
	}
	if k.Config != "" {
		if err := a.copy("/boot/config-"+k.Release, k.Config); err != nil {
			return err
		}
	}
	return a.w.Close()
}

// writeJob writes the job's own files as a second archive.
func writeJob(w io.Writer, j Job, control map[string][]byte) error {
	a := newArchive(w)
	data := map[string][]byte{}
	maps.Copy(data, j.Data)
	maps.Copy(data, control)
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if err := a.data(name, data[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.Files)) {
		if err := a.copy(name, j.Files[name]); err != nil {
			return err
		}
	}
	return a.w.Close()
}

// Static returns an error when the program at file needs a dynamic loader, which the guest has not.
func Static(file string) error {
	f, err := elf.Open(file)
	if err != nil {
		return fmt.Errorf("program %s: %w", file, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("program %s: is dynamically linked and cannot run in the virtual machine; build it with CGO_ENABLED=0", file)
		}
	}
	return nil
}

// without takes names out of a list.
func without(all, names []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(n string) bool {
		return slices.Contains(names, strings.ReplaceAll(n, "-", "_"))
	})
}
