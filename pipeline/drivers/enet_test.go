package drivers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeTools puts a gcc on PATH that answers the probe with the given exit code, and refuses everything else.
func fakeTools(t *testing.T, probe string) {
	t.Helper()
	dir := t.TempDir()
	script(t, dir, "gcc", `case "$*" in *-shared*) exit `+probe+`;; esac; echo no compiler; exit 1`)
	t.Setenv("PATH", dir)
}

func TestWithoutLibenetTheReasonIsKept(t *testing.T) {
	fakeTools(t, "1")
	root, dir := t.TempDir(), t.TempDir()
	var got []Built
	b := builder{root: root, dir: dir}
	if err := b.buildEnet(t.Context(), source{name: Enet, c: enetSources}, func(b Built) { got = append(got, b) }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Skipped != "unsupported: libenet not found; apt-get install libenet-dev" {
		t.Errorf("%+v", got)
	}
	if d := Find(t.Context(), dir, nil, []string{Enet})[0]; d.Missing != enetMissing {
		t.Errorf("missing %q", d.Missing)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// A library that is there takes the old reason away, and a compiler that fails is an error, not a missing library.
func TestWithLibenetTheDriverIsCompiled(t *testing.T) {
	fakeTools(t, "0")
	dir := t.TempDir()
	write(t, dir, Enet+reasonSuffix, enetMissing)
	b := builder{root: filepath.Join("..", ".."), dir: dir}
	err := b.buildEnet(t.Context(), source{name: Enet, c: enetSources}, func(Built) {})
	if err == nil || !strings.Contains(err.Error(), "build enet: gcc: exit status 1: no compiler") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, Enet+reasonSuffix)); !os.IsNotExist(err) {
		t.Errorf("the old reason is still there: %v", err)
	}
}

// What the driver says it was made of moves with every file that enters it, the shared ones included.
func TestEnetFiles(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"transports/enet", "transports/kcp"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("..", "..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	revision := func() string {
		files, err := builder{root: root}.enetFiles()
		if err != nil {
			t.Fatal(err)
		}
		return TreeID(files)
	}
	seen := map[string]string{revision(): "unchanged"}
	for _, file := range []string{"transports/enet/core.h", "transports/enet/session.c", "transports/kcp/lane.c", "transports/kcp/lane.h"} {
		write(t, root, file, "/* changed */\n")
		r := revision()
		if was, ok := seen[r]; ok {
			t.Errorf("%s changed: the files are those of %s", file, was)
		}
		seen[r] = file
	}
}
