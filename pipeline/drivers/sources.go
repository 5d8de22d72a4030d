package drivers

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// SourceFile is one file that a binary was made of.
type SourceFile struct {
	Path string // below the checkout, with slashes; external/kcp/ holds the core, which is not in the checkout
	ID   string // git's id of its content: SHA-1, hex
}

// TreeID is the id of the git tree that holds exactly these files, all of mode 100644. `git update-index --cacheinfo` for each of them in
// an empty index, then `git write-tree`, gives the same.
func TreeID(files []SourceFile) string {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b SourceFile) int { return strings.Compare(a.Path, b.Path) })
	var tree []byte
	for i := 0; i < len(files); i++ {
		folder, _, nested := strings.Cut(files[i].Path, "/")
		if !nested {
			tree = appendEntry(tree, "100644", files[i].Path, files[i].ID)
			continue
		}
		var below []SourceFile
		for ; i < len(files) && strings.HasPrefix(files[i].Path, folder+"/"); i++ {
			below = append(below, SourceFile{files[i].Path[len(folder)+1:], files[i].ID})
		}
		i--
		tree = appendEntry(tree, "40000", folder, TreeID(below))
	}
	return gitID("tree", tree)
}

// appendEntry appends an entry of a tree object. Sorting whole paths has put a folder where git wants it, as if its name ended with a slash.
func appendEntry(tree []byte, mode, name, id string) []byte {
	raw, err := hex.DecodeString(id)
	if err != nil {
		raw = nil // ids are made by gitID or were checked when read
	}
	return append(fmt.Appendf(tree, "%s %s\x00", mode, name), raw...)
}

// readSources names the given files, below root, and their contents.
func readSources(root string, paths []string) ([]SourceFile, error) {
	var files []SourceFile
	for _, p := range paths {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return nil, err
		}
		files = append(files, SourceFile{Path: p, ID: gitID("blob", text)})
	}
	return files, nil
}

// goSources lists what of this module enters a Go program: code and embedded files. Other modules are named, with their versions and
// checksums, in the binary itself.
func goSources(ctx context.Context, root, pkg string) ([]SourceFile, error) {
	const format = `{{if not .Standard}}{{if .Module.Main}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}` +
		`{{range .SFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", format, "./"+pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	var paths []string
	for path := range strings.Lines(string(out)) {
		rel, err := filepath.Rel(abs, strings.TrimSpace(path))
		if err != nil {
			return nil, err
		}
		paths = append(paths, filepath.ToSlash(rel))
	}
	slices.Sort(paths)
	return readSources(root, slices.Compact(paths))
}
