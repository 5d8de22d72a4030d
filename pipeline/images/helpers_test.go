package images

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	bin "encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// program is the smallest static ELF program, followed by text that tells it apart. It is no Go program, so it counts as one in C.
func program(machine elf.Machine, text string) []byte {
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Ehsize: 64, Phentsize: 56, Shentsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	var b bytes.Buffer
	if err := bin.Write(&b, bin.LittleEndian, h); err != nil {
		panic(err) // a struct of fixed size
	}
	b.WriteString(text)
	return b.Bytes()
}

// linked is a program that asks for an interpreter, as every dynamic one does.
func linked() []byte {
	b := program(elf.EM_X86_64, "")
	bin.LittleEndian.PutUint64(b[32:], 64) // e_phoff
	bin.LittleEndian.PutUint16(b[56:], 1)  // e_phnum
	var p bytes.Buffer
	if err := bin.Write(&p, bin.LittleEndian, elf.Prog64{Type: uint32(elf.PT_INTERP), Off: 64, Filesz: 1}); err != nil {
		panic(err)
	}
	return append(b, p.Bytes()...)
}

// place writes a program with the record of its making. cc is empty for a program whose making nobody recorded.
func place(t *testing.T, dir, name string, content []byte, cc string) {
	t.Helper()
	write(t, filepath.Join(dir, name), content, 0o755)
	if cc == "" {
		return
	}
	sum := sha256.Sum256(content)
	recipe := fmt.Sprintf("binary\tsha256:%s\ntoolchain\t%s\n100644 blob %040x\tsrc/%s.c\n", hex.EncodeToString(sum[:]), cc, len(name), name)
	write(t, filepath.Join(dir, name+".sources"), []byte(recipe), 0o644)
}

func write(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}

const gcc = "gcc 12, ld 2.40, glibc 2.36 libc.a sha256:0123456789ab"

// folder holds launch, bench and two drivers.
func folder(t *testing.T, cc string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"launch", "bench", "tcp", "udp"} {
		place(t, dir, name, program(elf.EM_X86_64, name), cc)
	}
	return dir
}

const specText = `schema: 1
repository: tb
owner: 65534
created: 1970-01-01T00:00:00Z
source: here
version: "1"
licenses: MIT
images:
  - names: [holder]
    title: net
    user: 0
    entrypoint: [/bench, link, hold]
    files:
      - {path: /bench, from: bench}
  - names: [tcp, udp]
    title: driver
    bound: true
    user: 65534
    entrypoint: [/launch]
    files:
      - {path: /launch, from: launch}
      - {path: /driver, from: driver}
    volumes: [/results]
`

func spec(t *testing.T) Spec {
	t.Helper()
	s, err := parse([]byte(specText))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// built returns the images of a folder by name.
func built(t *testing.T, dir string) map[string]Image {
	t.Helper()
	all, err := spec(t).Build(dir, filepath.Join(dir, "bench"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Image{}
	for _, i := range all {
		byName[i.Name] = i
	}
	return byName
}

func archive(t *testing.T, i Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := i.WriteArchive(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// age gives every file of a folder another time and other rights.
func age(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		then := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		t.Fatal(err)
	}
}
