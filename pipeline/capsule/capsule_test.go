package capsule

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkout makes a repository with one program and one pinned archive, which it returns too.
func checkout(t *testing.T) (root, archive string) {
	t.Helper()
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("unsupported: no %s here", tool)
		}
	}
	root, archive = t.TempDir(), filepath.Join(t.TempDir(), "kcp.tar.gz")
	must(t, os.WriteFile(archive, []byte("sources"), 0o644))
	for name, text := range map[string]string{
		"go.mod": "module example\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n", "ignored/.gitignore": "x\n",
		"containers/pins.json": fmt.Sprintf(`{"kcp":{"commit":"0123","sha256":"%x"}}`, sha256.Sum256([]byte("sources"))),
	} {
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	return root, archive
}

func TestPackAndUnpack(t *testing.T) {
	root, archive := checkout(t)
	must(t, os.WriteFile(filepath.Join(root, "secret.txt"), []byte("not committed"), 0o600))
	one, two := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, out := range []string{one, two} {
		_, err := Pack(context.Background(), root, out, []string{"."}, archive)
		must(t, err)
	}
	a, errA := os.ReadFile(one)
	b, errB := os.ReadFile(two)
	if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
		t.Errorf("two capsules of one commit differ (%v)", err)
	}
	dir := t.TempDir()
	o, err := Unpack(one, dir)
	must(t, err)
	info, err := Peek(one)
	if err != nil || info.Commit != o.Commit || len(o.Commit) != 40 || o.Archives[kcpFile] == "" || len(o.Missing) > 0 {
		t.Errorf("%+v, peeked %+v %v", o.Info, info, err)
	}
	for name, want := range map[string]string{"source/main.go": "package main\n\nfunc main() {}\n", "cache/transportbench/kcp/0123/archive.tar.gz": "sources"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "source", "secret.txt")); err == nil {
		t.Error("a file that was never committed is in the capsule")
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "out"), ".")
	cmd.Dir, cmd.Env = o.Source, o.Env(os.Environ(), t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v %s", err, out)
	}
}

func TestPackRefuses(t *testing.T) {
	root, archive := checkout(t)
	out := filepath.Join(t.TempDir(), "x")
	info, err := Pack(context.Background(), root, out, []string{"."}, filepath.Join(root, "nothing"))
	if err != nil || len(info.Missing) != 1 || !strings.Contains(info.Missing[0], "kcp") {
		t.Errorf("%v %v, want kcp to be missing", info.Missing, err)
	}
	must(t, os.WriteFile(archive, []byte("other"), 0o644))
	for want, c := range map[string]struct{ root, out, archive string }{
		"never overwritten":      {root, out, ""},
		"pinned is":              {root, out + "2", archive},
		"made in a git checkout": {t.TempDir(), out + "3", ""},
	} {
		if _, err := Pack(context.Background(), c.root, c.out, []string{"."}, c.archive); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// forged writes an archive that Pack would not.
func forged(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	must(t, err)
	w := tar.NewWriter(z)
	for _, h := range headers {
		must(t, w.WriteHeader(&h))
		_, err := w.Write(make([]byte, min(h.Size, 1<<10)))
		must(t, err)
	}
	_ = w.Flush() // may lack bytes: that is the point
	must(t, z.Close())
	file := filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(file, b.Bytes(), 0o644))
	return file
}

func TestHostileCapsules(t *testing.T) {
	for what, h := range map[string]tar.Header{
		"parent folder": {Name: "../x", Typeflag: tar.TypeReg},
		"absolute":      {Name: "/tmp/x", Typeflag: tar.TypeReg},
		"link":          {Name: "x", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink},
		"hard link":     {Name: "x", Linkname: "../y", Typeflag: tar.TypeLink},
		"device":        {Name: "x", Typeflag: tar.TypeChar},
		"huge":          {Name: "x", Typeflag: tar.TypeReg, Size: maxBytes + 1},
		"cut short":     {Name: "x", Typeflag: tar.TypeReg, Size: 2 << 10},
		"no capsule":    {Name: "x", Typeflag: tar.TypeReg},
	} {
		parent := t.TempDir()
		dir := filepath.Join(parent, "in")
		must(t, os.Mkdir(dir, 0o755))
		if _, err := Unpack(forged(t, h), dir); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line", what, err)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
			t.Errorf("%s: written outside: %v %v", what, left, err)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	must(t, os.WriteFile(text, []byte("hello"), 0o644))
	if _, err := Unpack(text, t.TempDir()); !errors.Is(err, ErrMalformed) {
		t.Errorf("%v, want malformed", err)
	}
	if _, err := Peek(text); !errors.Is(err, ErrMalformed) {
		t.Errorf("%v, want malformed", err)
	}
}
