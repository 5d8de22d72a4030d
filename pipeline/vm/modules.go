package vm

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// wanted are the modules that the guest's devices and the three link backends need; what they depend on comes with them.
var wanted = []string{
	"virtio_pci", "virtio_console", // the serial port
	"sch_netem",
	"nf_tables", "nft_objref", "nft_queue", // counters by name, queue expression
	"nfnetlink_queue", "nft_compat", "xt_NFQUEUE",
}

const (
	maxModule  = 64 << 20 // bytes, decompressed
	maxModules = 64       // in one closure
)

// module is one kernel module, decompressed.
type module struct {
	name string // as the kernel calls it, with underscores
	path string // below lib/modules/<release>, without the ending of a compression
	data []byte
}

// loadModules reads the named modules and what they depend on from the folder of one kernel's modules, in an order in which
// they can be loaded. builtin names those that the kernel has in itself.
func loadModules(dir string, names []string, builtin map[string]bool) ([]module, error) {
	files, err := findModules(dir)
	if err != nil {
		return nil, err
	}
	var out []module
	seen := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		if seen[name] || builtin[name] {
			return nil
		}
		if seen[name] = true; len(seen) > maxModules {
			return fmt.Errorf("modules in %s: more than %d depend on each other", dir, maxModules)
		}
		m, err := readModule(dir, files[name], name)
		if err != nil {
			return err
		}
		deps, err := dependencies(m.data)
		if err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
		for _, d := range deps {
			if err := visit(d); err != nil {
				return err
			}
		}
		out = append(out, m)
		return nil
	}
	for _, n := range names {
		if err := visit(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// moduleName is what the kernel calls the module of a file, empty for other files.
func moduleName(file string) string {
	for _, ending := range []string{".ko", ".ko.xz", ".ko.zst", ".ko.gz"} {
		if n, ok := strings.CutSuffix(filepath.Base(file), ending); ok {
			return strings.ReplaceAll(n, "-", "_")
		}
	}
	return ""
}

// findModules maps names to paths below dir.
func findModules(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if n := moduleName(p); err == nil && n != "" && d.Type().IsRegular() {
			files[n] = p
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New("holds no kernel module")
	}
	if err != nil {
		return nil, fmt.Errorf("modules in %s: %w", dir, err)
	}
	return files, nil
}

func readModule(dir, file, name string) (module, error) {
	if file == "" {
		return module{}, fmt.Errorf("module %s: not in %s, and not built into the kernel; use a kernel that has it", name, dir)
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		return module{}, fmt.Errorf("module %s: %w", name, err)
	}
	defer f.Close()
	r, plain, err := decompress(f, file)
	if err != nil {
		return module{}, fmt.Errorf("module %s: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxModule+1))
	if err == nil && len(data) > maxModule {
		err = fmt.Errorf("larger than %d bytes", maxModule)
	}
	if err != nil {
		return module{}, fmt.Errorf("module %s: %w", name, err)
	}
	return module{name: name, path: plain, data: data}, nil
}

// decompress is for kernels that compress their modules; the guest then needs no decompressor.
func decompress(r io.Reader, file string) (io.Reader, string, error) {
	plain := strings.TrimSuffix(file, filepath.Ext(file))
	switch filepath.Ext(file) {
	case ".xz":
		x, err := xz.NewReader(r)
		return x, plain, err
	case ".zst":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxModule))
		return z, plain, err
	case ".gz":
		g, err := gzip.NewReader(r)
		return g, plain, err
	}
	return r, file, nil
}

// dependencies reads "depends=" of the .modinfo section: the modules whose symbols this one uses (kernel, scripts/mod/modpost.c).
func dependencies(data []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	s := f.Section(".modinfo")
	if s == nil {
		return nil, errors.New("has no .modinfo section")
	}
	info, err := s.Data()
	if err != nil {
		return nil, err
	}
	var deps []string
	for field := range bytes.SplitSeq(info, []byte{0}) {
		if list, ok := strings.CutPrefix(string(field), "depends="); ok && list != "" {
			deps = append(deps, strings.Split(strings.ReplaceAll(list, "-", "_"), ",")...)
		}
	}
	return deps, nil
}

// builtinModules reads modules.builtin; a folder without one has none.
func builtinModules(dir string) map[string]bool {
	builtin := map[string]bool{}
	b, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil {
		return builtin
	}
	for line := range strings.Lines(string(b)) {
		if n := moduleName(strings.TrimSpace(line)); n != "" {
			builtin[n] = true
		}
	}
	return builtin
}

// depFile is modules.dep of the modules that the guest carries, so that its diagnosis knows what is installed.
func depFile(ms []module) []byte {
	var b bytes.Buffer
	for _, m := range slices.SortedFunc(slices.Values(ms), func(a, b module) int { return strings.Compare(a.path, b.path) }) {
		fmt.Fprintf(&b, "%s:\n", m.path)
	}
	return b.Bytes()
}
