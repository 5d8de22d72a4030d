package vm

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// fakeModule is the smallest relocatable ELF file with a .modinfo section (elf(5)): header, names, modinfo, three section headers.
func fakeModule(info string) []byte {
	names := "\x00.modinfo\x00.shstrtab\x00"
	const header = 64
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9))
	sections := uint64(header + len(names) + len(info))
	for _, v := range []any{uint16(1), uint16(62), uint32(1), uint64(0), uint64(0), sections, uint32(0), uint16(header), uint16(0), uint16(0), uint16(64), uint16(3), uint16(2)} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	b.WriteString(names + info)
	section := func(name, kind uint32, at, size int) {
		for _, v := range []any{name, kind, uint64(0), uint64(0), uint64(at), uint64(size), uint32(0), uint32(0), uint64(1), uint64(0)} {
			binary.Write(&b, binary.LittleEndian, v)
		}
	}
	section(0, 0, 0, 0)
	section(1, 1, header+len(names), len(info))
	section(10, 3, header, len(names))
	return b.Bytes()
}

func packed(t *testing.T, ending string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch ending {
	case ".xz":
		w, e := xz.NewWriter(&b)
		if e != nil {
			t.Fatal(e)
		}
		_, err = w.Write(data)
		w.Close()
	case ".zst":
		w, e := zstd.NewWriter(&b)
		if e != nil {
			t.Fatal(e)
		}
		_, err = w.Write(data)
		w.Close()
	case ".gz":
		w := gzip.NewWriter(&b)
		_, err = w.Write(data)
		w.Close()
	default:
		return data
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLoadModules(t *testing.T) {
	for _, ending := range []string{"", ".xz", ".zst", ".gz"} {
		t.Run("ko"+ending, func(t *testing.T) {
			dir := t.TempDir()
			for name, info := range map[string]string{
				"kernel/net/x-tables.ko":   "license=GPL\x00depends=\x00",
				"kernel/net/nft_compat.ko": "depends=nf_tables,x-tables\x00name=nft_compat\x00",
				"kernel/net/nf_tables.ko":  "depends=libcrc32c,nfnetlink\x00",
				"kernel/net/nfnetlink.ko":  "depends=\x00",
			} {
				file := filepath.Join(dir, name+ending)
				os.MkdirAll(filepath.Dir(file), 0o755)
				if err := os.WriteFile(file, packed(t, ending, fakeModule(info)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			os.WriteFile(filepath.Join(dir, "modules.builtin"), []byte("kernel/lib/libcrc32c.ko\n"), 0o644)
			ms, err := loadModules(dir, []string{"nft_compat", "nfnetlink"}, builtinModules(dir))
			if err != nil {
				t.Fatal(err)
			}
			var order []string
			for _, m := range ms {
				order = append(order, m.name)
				if !strings.HasSuffix(m.path, ".ko") || !bytes.HasPrefix(m.data, []byte("\x7fELF")) {
					t.Errorf("%s is not decompressed", m.path)
				}
			}
			if got := strings.Join(order, " "); got != "nfnetlink nf_tables x_tables nft_compat" {
				t.Errorf("order %s: a module has to come after those it depends on", got)
			}
			if _, err := loadModules(dir, []string{"sch_netem"}, nil); err == nil || !strings.Contains(err.Error(), "sch_netem") {
				t.Errorf("absent module: %v", err)
			}
		})
	}
}

func TestModulesThatDependInACircle(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "a.ko"), fakeModule("depends=b\x00"), 0o644)
	os.WriteFile(filepath.Join(dir, "b.ko"), fakeModule("depends=a\x00"), 0o644)
	if ms, err := loadModules(dir, []string{"a"}, nil); err != nil || len(ms) != 2 {
		t.Errorf("%v %v", ms, err)
	}
}

func FuzzDependencies(f *testing.F) {
	f.Add(fakeModule("depends=a,b\x00"))
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = dependencies(b) })
}
