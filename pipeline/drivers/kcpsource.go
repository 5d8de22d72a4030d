package drivers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// kcpPin is the section "kcp" of pins.json: which core the published column has, and where it is.
type kcpPin struct {
	URL     string `json:"url"`     // git repository
	Commit  string `json:"commit"`  // 40 hex digits; git checks it by itself
	Archive string `json:"archive"` // the same commit as tar.gz
	SHA256  string `json:"sha256"`  // of the archive, hex
	Tree    string `json:"tree"`    // git tree of the commit, for a folder without version control
}

// SourceError says why a driver cannot be built here: a run of its column is unsupported, nothing else suffers.
type SourceError struct{ Reason string }

func (e *SourceError) Error() string { return "unsupported: " + e.Reason }

// kcpCore is the protocol core as found: the contents of its two files and its name.
type kcpCore struct {
	version string // the commit, or <package>-<version>, or sha256-<digits>
	files   map[string][]byte
}

// coreFiles are all that the driver compiles.
func coreFiles() []string { return []string{"ikcp.c", "ikcp.h"} }

const shortCommit = 7

var hexCommit = regexp.MustCompile(`^[0-9a-f]{40}$`)

func readKCPPin(path string) (kcpPin, error) {
	var p struct {
		KCP kcpPin `json:"kcp"`
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return kcpPin{}, fmt.Errorf("pins: %w", err)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return kcpPin{}, fmt.Errorf("pins %s: %w", path, err)
	}
	if !hexCommit.MatchString(p.KCP.Commit) {
		return kcpPin{}, fmt.Errorf("pins %s: kcp.commit %q is not 40 hex digits", path, p.KCP.Commit)
	}
	return p.KCP, nil
}

// findCore returns the core in dir (KCP_SRC), or else the pinned one from the cache or the network. A core that is not the pinned one is
// an error unless unpinned is true.
func findCore(ctx context.Context, pin kcpPin, dir string, unpinned bool) (kcpCore, error) {
	if dir == "" {
		return pin.fetch(ctx)
	}
	core, err := localCore(ctx, pin, dir)
	if err != nil {
		return kcpCore{}, err
	}
	if core.version != pin.Commit && !unpinned {
		return kcpCore{}, &SourceError{fmt.Sprintf("kcp source in KCP_SRC is %s, the pinned one is %s; give --allow-unpinned to build the column %s",
			core.version, pin.Commit[:shortCommit], columnOf(core.version))}
	}
	return core, nil
}

// KCP is the driver whose protocol core comes from elsewhere.
const KCP = "kcp-c"

// columnOf is the name of a column, and of its binary, over a core that is not the pinned one.
func columnOf(version string) string { return KCP + "@" + version }

// UnpinnedCore names the core of the one unpinned KCP driver in dir. An error names the folder and what to do when there is none,
// or more than one.
func UnpinnedCore(dir string) (string, error) {
	found := Unpinned(dir)
	if len(found) != 1 {
		return "", fmt.Errorf("drivers folder %s: %d unpinned KCP drivers, want one; set KCP_SRC and run `bench drivers build --allow-unpinned`", dir, len(found))
	}
	return strings.TrimPrefix(found[0], KCP+"@"), nil
}

// buildKCP builds the driver over whatever core there is. Without one it leaves the reason beside the place of the binary.
func (b builder) buildKCP(ctx context.Context, s source, opt Options, report func(Built)) error {
	note := filepath.Join(b.dir, s.name+reasonSuffix)
	name, core, err := b.kcpCore(ctx, s, opt)
	var missing *SourceError
	if errors.As(err, &missing) {
		report(Built{Name: s.name, Skipped: missing.Error()})
		return os.WriteFile(note, []byte(missing.Reason+"\n"), 0o644)
	}
	if err != nil {
		return fmt.Errorf("build %s: %w", s.name, err)
	}
	if name == s.name {
		if err := os.Remove(note); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("build %s: %w", s.name, err)
		}
	}
	return b.one(ctx, b.kcpProgram(s, name, core), report)
}

func (b builder) kcpProgram(s source, name string, core kcpCore) program {
	inputs := func(context.Context) ([]SourceFile, error) { return b.kcpSources(s, core) }
	compile := func(ctx context.Context, out string) error { return b.compileKCP(ctx, s, core, out) }
	return program{name: name, from: s.c, make: compile, inputs: inputs, tools: CToolchain, core: core.version}
}

// kcpSources are our files and those of the core, which are no part of this repository and stand below external/.
func (b builder) kcpSources(s source, core kcpCore) ([]SourceFile, error) {
	var ours []string
	for _, pattern := range []string{"*.c", "*.h"} {
		found, err := fs.Glob(os.DirFS(b.root), path.Join(s.c, pattern))
		if err != nil {
			return nil, err
		}
		ours = append(ours, found...)
	}
	files, err := readSources(b.root, ours)
	for name, text := range core.files {
		files = append(files, SourceFile{Path: externalPrefix + "kcp/" + name, ID: gitID("blob", text)})
	}
	return files, err
}

func (b builder) kcpCore(ctx context.Context, s source, opt Options) (name string, core kcpCore, err error) {
	pin, err := readKCPPin(filepath.Join(b.root, "containers", "pins.json"))
	if err != nil {
		return "", kcpCore{}, err
	}
	core, err = findCore(ctx, pin, opt.KCPSource, opt.AllowUnpinned)
	if core.version == pin.Commit {
		return s.name, core, err
	}
	return columnOf(core.version), core, err
}

// compileKCP compiles the core by itself, exactly as it came, and our files with all warnings as errors.
func (b builder) compileKCP(ctx context.Context, s source, core kcpCore, out string) error {
	tmp, err := os.MkdirTemp("", "kcp-core-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // scratch: what stays behind is in the way of nobody
	for name, text := range core.files {
		if err := os.WriteFile(filepath.Join(tmp, name), text, 0o644); err != nil {
			return err
		}
	}
	object := filepath.Join(tmp, "ikcp.o")
	if err := b.command(ctx, "gcc", "-O3", "-DNDEBUG", "-std=c11", "-c", "-o", object, filepath.Join(tmp, "ikcp.c")); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(b.root, s.c, "*.c"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no C sources in %s", s.c)
	}
	sources, err := b.kcpSources(s, core)
	if err != nil {
		return err
	}
	args := []string{"-O3", "-DNDEBUG", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pthread", "-static", "-isystem", tmp,
		`-DKCP_VERSION="` + core.version + `"`, `-DSOURCE_COMMIT="tree-` + TreeID(sources) + `"`, "-o", out}
	for _, f := range files {
		rel, err := filepath.Rel(b.root, f)
		if err != nil {
			return err
		}
		args = append(args, rel)
	}
	return b.command(ctx, "gcc", append(args, object)...)
}

// reasonSuffix ends the name of the file that says why a driver is not there.
const reasonSuffix = ".unsupported"

// Reason is why the driver that belongs at path could not be built, or empty.
func Reason(path string) string {
	b, err := os.ReadFile(path + reasonSuffix)
	if err != nil || len(b) > 1000 {
		return ""
	}
	return string(bytes.TrimSpace(b))
}
