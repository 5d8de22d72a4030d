package drivers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// sourcesSuffix ends the name of the file that says what a binary was made of.
const sourcesSuffix = ".sources"

// Recipe says what a binary was made of. It lies beside the binary, written when that was built.
type Recipe struct {
	SHA256     string       // of the binary, hex: a recipe of another one is none
	CToolchain string       // compiler, linker and static library; empty: no C compiler took part
	Core       string       // version of the KCP core, as columns name it; empty for all other programs
	Files      []SourceFile // by path
}

// record writes the recipe of a binary that was just built and is about to take its place.
func (b builder) record(ctx context.Context, p program, sum string) error {
	if p.inputs == nil {
		return nil
	}
	files, err := p.inputs(ctx)
	if err != nil {
		return err
	}
	r := Recipe{SHA256: sum, Core: p.core, Files: files}
	if p.tools != nil {
		if r.CToolchain, err = p.tools(ctx); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(b.dir, p.name)+sourcesSuffix, r.marshal(), 0o644)
}

// marshal writes the digest, toolchain and core if there are any, and the files as `git ls-tree -r` prints them.
func (r Recipe) marshal() []byte {
	out := fmt.Appendf(nil, "binary\tsha256:%s\n", r.SHA256)
	if r.CToolchain != "" {
		out = fmt.Appendf(out, "toolchain\t%s\n", r.CToolchain)
	}
	if r.Core != "" {
		out = fmt.Appendf(out, "core\tkcp %s\n", r.Core)
	}
	slices.SortFunc(r.Files, func(a, b SourceFile) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range r.Files {
		out = fmt.Appendf(out, "100644 blob %s\t%s\n", f.ID, f.Path)
	}
	return out
}

const maxRecipe = 1 << 20 // bytes; bench itself has a few hundred sources

// ReadRecipe reads the recipe of the binary at path. ok is false when there is none, or it is that of another binary.
func ReadRecipe(path string) (r Recipe, ok bool, err error) {
	text, err := os.ReadFile(path + sourcesSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return r, false, nil
	}
	if err == nil && len(text) > maxRecipe {
		err = fmt.Errorf("larger than %d bytes", maxRecipe)
	}
	if err == nil {
		r, err = parseRecipe(string(text))
	}
	if err != nil {
		return r, false, fmt.Errorf("sources of %s: %w; run `bench images build`", filepath.Base(path), err)
	}
	sum, err := Digest(path)
	return r, err == nil && sum == r.SHA256, err
}

// recipeLine is made at its first use: its repetitions take a millisecond to compile, and most commands never read a list.
var recipeLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:binary\tsha256:([0-9a-f]{64})|toolchain\t([ -~]{1,300})|core\tkcp ([!-~]{1,100})|100644 blob ([0-9a-f]{40})\t([!-~]{1,500}))\n$`)
})

func parseRecipe(text string) (Recipe, error) {
	var r Recipe
	n := 0
	for line := range strings.Lines(text) {
		n++
		m := recipeLine().FindStringSubmatch(line)
		switch {
		case m == nil || (n == 1) != (m[1] != ""):
			return Recipe{}, fmt.Errorf("line %d is not of a list of sources", n)
		case m[1] != "":
			r.SHA256 = m[1]
		case m[2] != "":
			r.CToolchain = m[2]
		case m[3] != "":
			r.Core = m[3]
		default:
			r.Files = append(r.Files, SourceFile{Path: m[5], ID: m[4]})
		}
	}
	if n == 0 {
		return Recipe{}, errors.New("empty list of sources")
	}
	return r, nil
}
