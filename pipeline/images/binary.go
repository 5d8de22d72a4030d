package images

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"transportbench/pipeline/drivers"
)

// maxBinary bounds what is read into memory, bytes.
const maxBinary = 512 << 20

// binary is a program as it enters an image.
type binary struct {
	content []byte
	arch    string           // GOARCH
	info    *debug.BuildInfo // nil: no Go program
	recipe  drivers.Recipe   // without files: nobody wrote down what it was made of
}

// errNotStatic is the reason why a program cannot be in an image: there is no library beside it.
var errNotStatic = errors.New("is linked to libraries of the system, and an image holds none; link it statically or use --runtime local")

// readBinary reads a static Linux program with all that is known of its making.
func readBinary(path string) (binary, error) {
	st, err := os.Stat(path)
	if err != nil {
		return binary{}, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxBinary {
		return binary{}, fmt.Errorf("is no file of at most %d bytes", maxBinary)
	}
	var b binary
	if b.content, err = os.ReadFile(path); err != nil {
		return binary{}, err
	}
	if b.arch, err = staticArch(b.content); err != nil {
		return binary{}, err
	}
	if info, err := buildinfo.Read(bytes.NewReader(b.content)); err == nil {
		b.info = info
	}
	recipe, ok, err := drivers.ReadRecipe(path)
	if err != nil {
		return binary{}, err
	}
	if ok {
		b.recipe = recipe
	}
	return b, nil
}

// toolchain is what made the binary, or empty when that is not known.
func (b binary) toolchain() string {
	if b.info != nil {
		return b.info.GoVersion
	}
	return b.recipe.CToolchain
}

// staticArch returns the GOARCH of a static ELF program.
func staticArch(content []byte) (string, error) {
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return "", errors.New("is no Linux program")
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "", errNotStatic
		}
	}
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64", nil
	case elf.EM_AARCH64:
		return "arm64", nil
	}
	return "", fmt.Errorf("is for the machine %s, and images are made for amd64 and arm64", f.Machine)
}
