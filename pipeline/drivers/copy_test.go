package drivers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCopySources(t *testing.T) {
	root, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for _, dir := range []string{"a", "containers"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "containers/pins.json", "a/b.c", "a/other.c"} {
		write(t, root, name, name)
	}
	listed := SourceFile{"a/b.c", gitID("blob", []byte("a/b.c"))}
	if err := CopySources(root, to, []SourceFile{listed, listed, {"external/kcp/ikcp.c", listed.ID}}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "a", "b.c")); err != nil || string(got) != "a/b.c" {
		t.Errorf("%q, %v", got, err)
	}
	for _, absent := range []string{"a/other.c", "external"} {
		if _, err := os.Stat(filepath.Join(to, absent)); err == nil {
			t.Errorf("%s was copied", absent)
		}
	}
	for _, c := range []struct {
		file SourceFile
		want string
	}{
		{SourceFile{"a/b.c", strings.Repeat("0", 40)}, "a/b.c has changed since the binaries were built"},
		{SourceFile{"../x", listed.ID}, "../x is not below the checkout"},
		{SourceFile{"/etc/passwd", listed.ID}, "/etc/passwd is not below the checkout"},
	} {
		if err := CopySources(root, to, []SourceFile{c.file}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
