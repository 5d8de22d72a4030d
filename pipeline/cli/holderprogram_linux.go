package cli

import (
	"crypto/sha1" //nolint:gosec // git names files by it
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"transportbench/pipeline/drivers"
)

// holderProgram is the bench that goes into the holder's image: the reproducible build beside the drivers, or else this program. One that
// was made of other sources than those of this checkout would measure with another link, so it is passed over.
func holderProgram(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	built := filepath.Join(dir, drivers.Bench)
	if _, err := os.Stat(built); errors.Is(err, fs.ErrNotExist) {
		return self, nil
	}
	recipe, _, err := drivers.ReadRecipe(built) // without one nothing contradicts it
	if err != nil {
		return "", err
	}
	if same, err := current(os.DirFS("."), recipe.Files); err != nil || !same {
		return self, err
	}
	return built, nil
}

// current reports whether the sources of a program are those of the checkout in fsys. Away from a checkout nothing contradicts it.
func current(fsys fs.FS, files []drivers.SourceFile) (bool, error) {
	if _, err := fs.Stat(fsys, pinsFile); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	for _, f := range files {
		if !fs.ValidPath(f.Path) {
			continue
		}
		b, err := fs.ReadFile(fsys, f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...)) //nolint:gosec // as git does
		if hex.EncodeToString(sum[:]) != f.ID {
			return false, nil
		}
	}
	return true, nil
}
