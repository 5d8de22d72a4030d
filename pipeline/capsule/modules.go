package capsule

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// moduleFiles lists what a GOPROXY must serve for the programs: .info and .mod of every version in the module graph, since Go reads
// them to choose versions, and .zip of those that enter a binary. n counts the latter. go.sum of the source guards them all.
func moduleFiles(ctx context.Context, root string, programs []string) (all []entry, n int, err error) {
	cache, err := output(ctx, root, "go", "env", "GOMODCACHE")
	if err != nil {
		return nil, 0, fmt.Errorf("capsule: %w", err)
	}
	download := filepath.Join(cache, "cache", "download")
	needed, err := compiled(ctx, root, programs)
	if err != nil {
		return nil, 0, err
	}
	graph, err := output(ctx, root, "go", "mod", "graph")
	if err != nil {
		return nil, 0, fmt.Errorf("capsule: %w", err)
	}
	versions := strings.Fields(graph)
	slices.Sort(versions)
	for _, v := range slices.Compact(versions) {
		path, version, ok := strings.Cut(v, "@")
		if !ok || path == "go" || path == "toolchain" {
			continue
		}
		base, err := escaped(path, version)
		if err != nil {
			return nil, 0, err
		}
		kinds := []string{".info", ".mod"}
		if needed[v] {
			kinds = append(kinds, ".zip")
			n++
		}
		for _, kind := range kinds {
			file := filepath.Join(download, filepath.FromSlash(base)) + kind
			if _, err := os.Stat(file); err == nil {
				all = append(all, entry{name: modulesDir + "/" + base + kind, path: file})
			} else if kind == ".zip" {
				return nil, 0, fmt.Errorf("capsule: %s is not in the module cache; run: go mod download %s", v, v)
			}
		}
	}
	return all, n, nil
}

func escaped(path, version string) (string, error) {
	p, errPath := module.EscapePath(path)
	v, errVersion := module.EscapeVersion(version)
	if errPath != nil || errVersion != nil {
		return "", fmt.Errorf("capsule: module %s@%s has no escaped form", path, version)
	}
	return p + "/@v/" + v, nil
}

// compiled asks Go which modules enter the programs.
func compiled(ctx context.Context, root string, programs []string) (map[string]bool, error) {
	args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}{{end}}{{end}}"}, programs...)
	out, err := output(ctx, root, "go", args...)
	if err != nil {
		return nil, fmt.Errorf("capsule: %w", err)
	}
	needed := map[string]bool{}
	for _, v := range strings.Fields(out) {
		needed[v] = true
	}
	return needed, nil
}

// pins is the part of containers/pins.json that names archives.
type pins struct {
	KCP struct {
		Commit string `json:"commit"`
		SHA256 string `json:"sha256"`
	} `json:"kcp"`
}

func readPins(b []byte) (p pins, err error) {
	if err = json.Unmarshal(b, &p); err == nil && len(p.KCP.SHA256) != 2*sha256.Size {
		err = fmt.Errorf("kcp has no sha256")
	}
	return p, err
}

const pinsFile = sourceDir + "/containers/pins.json"

// archives packs the pinned archive, whose digest must be the pinned one. Without it the capsule says what is missing.
func (i *Info) archives(source []entry, kcpArchive string) ([]entry, error) {
	at := slices.IndexFunc(source, func(e entry) bool { return e.name == pinsFile })
	if at < 0 {
		return nil, fmt.Errorf("capsule: the commit has no %s", pinsFile)
	}
	p, err := readPins(source[at].data)
	if err != nil {
		return nil, fmt.Errorf("capsule: %s: %w", pinsFile, err)
	}
	b, err := os.ReadFile(kcpArchive)
	if err != nil {
		i.Missing = append(i.Missing, "kcp: its pinned archive is not in the cache; build drivers with a network once, or name it with --kcp-archive")
		return nil, nil
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != p.KCP.SHA256 {
		return nil, fmt.Errorf("capsule: archive %s has SHA-256 %s, pinned is %s", kcpArchive, got, p.KCP.SHA256)
	}
	i.Archives[kcpFile] = p.KCP.SHA256
	return []entry{{name: archivesDir + "/" + kcpFile, data: b}}, nil
}

const kcpFile = "kcp.tar.gz"
