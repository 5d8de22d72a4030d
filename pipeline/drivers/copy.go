package drivers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// externalPrefix is where a recipe puts the KCP core, which is no part of the checkout.
const externalPrefix = "external/"

// CopySources copies the given sources, and what says which other modules and which core belong to them, from the checkout at root to the
// same places below to. A file that is no longer the recorded one is an error.
func CopySources(root, to string, files []SourceFile) error {
	for _, name := range []string{"go.mod", "go.sum", "containers/pins.json"} {
		files = append(files, SourceFile{Path: name})
	}
	slices.SortFunc(files, func(a, b SourceFile) int { return strings.Compare(a.Path+a.ID, b.Path+b.ID) })
	for _, f := range slices.Compact(files) {
		if strings.HasPrefix(f.Path, externalPrefix) {
			continue // it is fetched, or taken from KCP_SRC, again
		}
		if err := copySource(root, to, f); err != nil {
			return fmt.Errorf("copy of the sources: %w", err)
		}
	}
	return nil
}

func copySource(root, to string, f SourceFile) error {
	name := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s is not below the checkout", f.Path)
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return err
	}
	if f.ID != "" && gitID("blob", text) != f.ID {
		return fmt.Errorf("%s has changed since the binaries were built; run `bench images build`", f.Path)
	}
	out := filepath.Join(to, name)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}
