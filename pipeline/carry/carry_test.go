package carry

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func cargo() map[string][]byte {
	return map[string][]byte{"launch": []byte("first"), "tcp": bytes.Repeat([]byte("second"), 9000)}
}

func packed(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Pack(&out, []byte("\x7fELF program"), files); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func at(dir string) func() (string, error) { return func() (string, error) { return dir, nil } }

func write(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustUnpack(t *testing.T, path, cache string) string {
	t.Helper()
	dir, err := Unpack(path, at(cache))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range cargo() {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %v, %d bytes, want %d", name, err, len(got), len(want))
		}
	}
	return dir
}

func TestPackTwiceGivesTheSameBytes(t *testing.T) {
	if !bytes.Equal(packed(t, cargo()), packed(t, cargo())) {
		t.Error("the same input gave other bytes")
	}
}

// TestUnpackHealsItsFolder damages a file, takes one away and takes a right away: each use gives what was packed.
func TestUnpackHealsItsFolder(t *testing.T) {
	path, cache := write(t, packed(t, cargo())), filepath.Join(t.TempDir(), "cache")
	dir := mustUnpack(t, path, cache)
	tcp := filepath.Join(dir, "tcp")
	for name, harm := range map[string]func() error{
		"nothing": func() error { return nil },
		"changed": func() error { return os.WriteFile(tcp, []byte("other"), 0o755) },
		"removed": func() error { return os.Remove(tcp) },
		"mode":    func() error { return os.Chmod(tcp, 0o600) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		if again := mustUnpack(t, path, cache); again != dir {
			t.Errorf("%s: folder %s, want %s", name, again, dir)
		}
		if st, err := os.Stat(tcp); err != nil || st.Mode().Perm() != 0o755 {
			t.Errorf("%s: mode %v %v", name, st.Mode(), err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(cache, "new-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestUnpackAtTheSameTime(t *testing.T) {
	path, cache := write(t, packed(t, cargo())), t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := Unpack(path, at(cache)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	mustUnpack(t, path, cache)
}

func TestUnpackRefuses(t *testing.T) {
	var other, climb bytes.Buffer
	z := zip.NewWriter(&other)
	if err := errors.Join(add(z, sumsName, sums(cargo())), add(z, "launch", []byte("forged")), add(z, "tcp", nil), z.Close()); err != nil {
		t.Fatal(err)
	}
	if err := Pack(&climb, nil, map[string][]byte{"../tcp": nil}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		program []byte
		want    string
	}{
		"plain program": {[]byte("\x7fELF and nothing else"), ErrNone.Error()},
		"forged file":   {other.Bytes(), "another digest"},
		"other folder":  {climb.Bytes(), "no digest and name"},
	} {
		cache := t.TempDir()
		_, err := Unpack(write(t, c.program), at(cache))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v %v", name, left, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sums(cargo()))
	f.Add([]byte("00  ../x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := parse(b)
		for _, c := range files {
			if err == nil && filepath.Base(c.name) != c.name {
				t.Errorf("%q leaves its folder", c.name)
			}
		}
	})
}
