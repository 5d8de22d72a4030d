package drivers

import (
	"context"
	"crypto/sha1" // git names its objects so
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// localCore reads the core from dir and finds out which one it is: the commit of a clean git checkout, the pinned commit for a folder
// with the pinned tree, name and version of the npm package it lies in, or else a digest of its files.
func localCore(ctx context.Context, pin kcpPin, dir string) (kcpCore, error) {
	core := kcpCore{files: map[string][]byte{}}
	for _, name := range coreFiles() {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return kcpCore{}, &SourceError{fmt.Sprintf("kcp source in KCP_SRC not available (%s does not have %s)", filepath.Base(dir), name)}
		}
		core.files[name] = b
	}
	switch commit, tree, pkg := checkout(ctx, dir), treeOf(dir), packageOf(dir); {
	case commit != "":
		core.version = commit
	case tree == pin.Tree && tree != "":
		core.version = pin.Commit
	case pkg != "":
		core.version = pkg
	default:
		core.version = "sha256-" + digestOf(slices.Concat(core.files["ikcp.c"], core.files["ikcp.h"]))[:12]
	}
	return core, nil
}

// checkout is the commit of dir if it is the root of a git checkout whose core files are those of the commit, else empty.
func checkout(ctx context.Context, dir string) string {
	top, err := gitOutput(ctx, dir, "rev-parse", "--show-toplevel", "HEAD")
	if err != nil {
		return ""
	}
	root, commit, _ := strings.Cut(strings.TrimSpace(string(top)), "\n")
	here, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	if here, err = filepath.Abs(here); err != nil || here != root {
		return ""
	}
	for _, name := range coreFiles() {
		committed, err := gitOutput(ctx, dir, "rev-parse", "HEAD:"+name)
		if err != nil {
			return ""
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || gitID("blob", b) != strings.TrimSpace(string(committed)) {
			return ""
		}
	}
	return commit
}

// gitID is git's id of an object: SHA-1 of its kind, size and content.
func gitID(kind string, content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// treeOf is git's id of the tree that a folder holds, or empty when it cannot be read or is no plain copy of a repository.
func treeOf(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 1000 {
		return ""
	}
	key := func(e fs.DirEntry) string { // git sorts folders as if their names ended with a slash
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(key(a), key(b)) })
	var tree []byte
	for _, e := range entries {
		mode, id := treeEntry(filepath.Join(dir, e.Name()), e)
		raw, err := hex.DecodeString(id)
		if err != nil || id == "" {
			return ""
		}
		tree = append(fmt.Appendf(tree, "%s %s\x00", mode, e.Name()), raw...)
	}
	return gitID("tree", tree)
}

// treeEntry is mode and id of one entry; an empty id says that a repository of sources would not have it.
func treeEntry(path string, e fs.DirEntry) (mode, id string) {
	if e.IsDir() {
		return "40000", treeOf(path)
	}
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxArchive {
		return "", ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", ""
	}
	if info.Mode().Perm()&0o100 != 0 {
		return "100755", gitID("blob", b)
	}
	return "100644", gitID("blob", b)
}

// packageDepth is how far below its package.json an npm package keeps the core (node-kcp: src/kcp).
const packageDepth = 3

var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// packageOf is <name>-<version> of the npm package that dir lies in, or empty.
func packageOf(dir string) string {
	for range packageDepth {
		b, err := os.ReadFile(filepath.Join(dir, "package.json"))
		var p struct{ Name, Version string }
		if err == nil && json.Unmarshal(b, &p) == nil && packageName.MatchString(p.Name) && packageName.MatchString(p.Version) {
			return p.Name + "-" + p.Version
		}
		dir = filepath.Join(dir, "..")
	}
	return ""
}
