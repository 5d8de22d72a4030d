package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

// auditDerived derives every derived file again and compares bytes: a file that nothing derives is a finding, one that is not there is not.
func auditDerived(into *summary.Audit, a *artifacts.Artifact) error {
	present, err := derivedNames(a.Dir)
	if err != nil {
		return err
	}
	s, err := summarize(a)
	if err != nil {
		return err
	}
	files, err := analysisFiles(a, s)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(present, func(n string) bool { return n == "report.html" || strings.HasPrefix(n, "plots/") }) {
		shown, err := derivedFiles(a, s, slices.ContainsFunc(present, func(n string) bool { return strings.HasSuffix(n, ".png") }))
		if err != nil {
			return err
		}
		files = append(files, shown...)
	}
	for _, name := range present {
		stored, err := os.ReadFile(filepath.Join(a.Dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		i := slices.IndexFunc(files, func(f derivedFile) bool { return f.name == name })
		if i < 0 {
			into.Check(false, "derived", name, "a file that bench analyze or bench report derives", "another file; remove it")
			continue
		}
		into.Check(bytes.Equal(stored, files[i].data), "derived", name, "the bytes that the journal gives, see bench analyze", firstDifference(files[i].data, stored))
	}
	return auditDerivedSums(into, a.Dir, present)
}

// auditDerivedSums compares DERIVED.SHA256SUMS with what is there.
func auditDerivedSums(into *summary.Audit, dir string, present []string) error {
	sums, err := readDerivedSums(dir)
	if err != nil {
		return err
	}
	if len(present) > 0 {
		auditVersion(into, dir)
	}
	for _, name := range present {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		got := fmt.Sprintf("%x", sha256.Sum256(b))
		into.Check(sums[name] == got, "derived-sums", artifacts.DerivedSums+":"+name, got, sums[name])
	}
	if len(present) == 0 {
		into.Skip("derived", "no derived file is here; bench analyze makes them")
	}
	return nil
}

// auditVersion notes when another version of the analysis made the derived files: then bytes differ although nobody changed them.
func auditVersion(into *summary.Audit, dir string) {
	list, _ := os.ReadFile(filepath.Join(dir, artifacts.DerivedSums)) // absent: every file is missing from it
	first, _, _ := strings.Cut(string(list), "\n")
	want := fmt.Sprintf("# analysis %d", summary.AnalysisVersion)
	into.Note(first == want, "derived-version", artifacts.DerivedSums, want+", else run bench analyze again", first)
}

// derivedNames lists the derived files of an artifact except their list.
func derivedNames(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if name := filepath.ToSlash(rel); name != artifacts.DerivedSums && artifacts.Derived(name) {
			names = append(names, name)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("artifact: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// firstDifference names the first line of got that is not that of want.
func firstDifference(want, got []byte) string {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range min(len(w), len(g)) {
		if !bytes.Equal(w[i], g[i]) {
			return fmt.Sprintf("line %d differs: %.200q, want %.200q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
