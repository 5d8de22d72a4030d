package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

// addDerived writes derived files into an artifact and their hashes into DERIVED.SHA256SUMS, and keeps the lines of other derived
// files that are still there. Lines are in order of the name, so commands may run in any order.
func addDerived(dir string, files []derivedFile) error {
	sums, err := readDerivedSums(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("artifact %s: %w", dir, err)
		}
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return fmt.Errorf("artifact %s: %w", dir, err)
		}
		sums[f.name] = fmt.Sprintf("%x", sha256.Sum256(f.data))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# analysis %d\n", summary.AnalysisVersion) // sha256sum -c skips it
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&out, "%s  %s\n", sums[name], name)
	}
	if err := os.WriteFile(filepath.Join(dir, artifacts.DerivedSums), []byte(out.String()), 0o644); err != nil {
		return fmt.Errorf("artifact %s: %w", dir, err)
	}
	return nil
}

// readDerivedSums returns the hash of every listed derived file that still exists; none when there is no list yet.
func readDerivedSums(dir string) (map[string]string, error) {
	sums := map[string]string{}
	b, err := os.ReadFile(filepath.Join(dir, artifacts.DerivedSums))
	if errors.Is(err, fs.ErrNotExist) {
		return sums, nil
	}
	if err != nil {
		return nil, fmt.Errorf("artifact %s: %w", dir, err)
	}
	for line := range strings.Lines(string(b)) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || artifacts.ValidName(name) != nil {
			continue // not ours: written again without it
		}
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			sums[name] = hash
		}
	}
	return sums, nil
}
