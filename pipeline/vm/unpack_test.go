package vm

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len("data"))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			w.Write([]byte("data"))
		}
	}
	w.Close()
	return b.Bytes()
}

func file(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o4777} }

// unpackTo unpacks beside a secret and returns what is in the folder afterwards.
func unpackTo(t testing.TB, archive []byte, limit int64) ([]string, error) {
	t.Helper()
	top := t.TempDir()
	if err := os.Mkdir(filepath.Join(top, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "secret"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(top, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	unpackErr := unpack(root, bytes.NewReader(archive), limit)
	entries, _ := os.ReadDir(top)
	if b, _ := os.ReadFile(filepath.Join(top, "secret")); len(entries) != 2 || string(b) != "old" {
		t.Errorf("something outside the folder changed: %v, secret %q", entries, b)
	}
	var names []string
	fs.WalkDir(os.DirFS(filepath.Join(top, "in")), ".", func(p string, d fs.DirEntry, _ error) error {
		if info, err := d.Info(); err == nil && !d.IsDir() && info.Mode() != 0o644 {
			t.Errorf("%s has mode %s", p, info.Mode())
		}
		names = append(names, p)
		return nil
	})
	return names, unpackErr
}

func TestUnpack(t *testing.T) {
	names, err := unpackTo(t, tarOf(t, tar.Header{Name: "logs/", Typeflag: tar.TypeDir}, file("logs/a.log"), file("runs.ndjson")), 8)
	if err != nil || strings.Join(names, " ") != ". logs logs/a.log runs.ndjson" {
		t.Errorf("unpacked %v, %v", names, err)
	}
}

// TestUnpackHostile wants a reason for every archive that a broken or hostile guest may send, and nothing outside the folder.
func TestUnpackHostile(t *testing.T) {
	for name, headers := range map[string][]tar.Header{
		"parent":       {file("../secret")},
		"absolute":     {file("/etc/x")},
		"inner parent": {file("a/../../secret")},
		"twice":        {file("a"), file("a")},
		"link":         {{Name: "a", Linkname: "../secret", Typeflag: tar.TypeSymlink}},
		"through link": {{Name: "a", Linkname: "..", Typeflag: tar.TypeSymlink}, file("a/secret")},
		"hard link":    {{Name: "a", Linkname: "../secret", Typeflag: tar.TypeLink}},
		"device":       {{Name: "a", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}},
		"pipe":         {{Name: "a", Typeflag: tar.TypeFifo}},
		"deep":         {file(strings.Repeat("a/", maxResultDepth) + "b")},
		"no folder":    {file("a/b")},
		"too much":     {file("a"), file("b"), file("c")},
		"itself":       {file(".")},
	} {
		t.Run(name, func(t *testing.T) {
			names, err := unpackTo(t, tarOf(t, headers...), 8)
			if !errors.Is(err, errResults) {
				t.Errorf("accepted as %v: %v", names, err)
			}
		})
	}
}

func TestPackIsWhatUnpackTakes(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".tmp", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".tmp", "x", "f"), []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := pack(&b, dir); err != nil {
		t.Fatal(err)
	}
	names, err := unpackTo(t, b.Bytes(), MaxResultBytes)
	if err != nil || strings.Join(names, " ") != ". .tmp .tmp/x .tmp/x/f" {
		t.Errorf("unpacked %v, %v", names, err)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(tarOf(f, file("a"), tar.Header{Name: "d/", Typeflag: tar.TypeDir}, file("d/b")))
	f.Add(tarOf(f, file("../secret")))
	f.Add([]byte("noise"))
	f.Fuzz(func(t *testing.T, b []byte) { unpackTo(t, b, 1<<16) })
}
