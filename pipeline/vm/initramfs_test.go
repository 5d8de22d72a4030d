package vm

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
)

func entries(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	for r := cpio.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if dir, _ := filepath.Split(h.Name); dir != "" {
			if _, ok := out[strings.TrimSuffix(dir, "/")]; !ok {
				t.Errorf("%s comes before its folder", h.Name)
			}
		}
		out[h.Name] = string(b)
	}
}

func TestInitramfs(t *testing.T) {
	dir := t.TempDir()
	init, config := filepath.Join(dir, "bench"), filepath.Join(dir, "config")
	for name, text := range map[string]string{init: "program", config: "CONFIG_X=y\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := Kernel{Release: "6.1.0-test", Config: config}
	ms := []module{{"b", "kernel/b.ko", []byte("module b")}, {"a", "kernel/net/a.ko", []byte("module a")}}
	var once, again bytes.Buffer
	for _, w := range []io.Writer{&once, &again} {
		if err := writeBase(w, k, init, ms); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(once.Bytes(), again.Bytes()) {
		t.Error("equal input gave different archives")
	}
	got := entries(t, once.Bytes())
	for name, want := range map[string]string{
		"init": "program", "boot/config-6.1.0-test": "CONFIG_X=y\n", "lib/modules/6.1.0-test/kernel/net/a.ko": "module a",
		"lib/modules/6.1.0-test/modules.dep": "kernel/b.ko:\nkernel/net/a.ko:\n", "proc": "", "dev": "",
	} {
		if text, ok := got[name]; !ok || text != want {
			t.Errorf("%s holds %q, want %q", name, text, want)
		}
	}
}

func TestJobFiles(t *testing.T) {
	from := filepath.Join(t.TempDir(), "driver")
	if err := os.WriteFile(from, []byte("driver"), 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	j := Job{Files: map[string]string{"/libexec/x/tcp": from}, Data: map[string][]byte{"/results/.keep": nil}}
	if err := writeJob(&b, j, map[string][]byte{jobFile: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, b.Bytes()); got["libexec/x/tcp"] != "driver" || got["vm/job.json"] != "{}" {
		t.Errorf("archive holds %v", got)
	}
	for _, bad := range []string{"relative", "/a/../b", "/a/"} {
		if err := writeJob(io.Discard, Job{Data: map[string][]byte{bad: nil}}, nil); err == nil {
			t.Errorf("path %q was accepted", bad)
		}
	}
	if err := writeJob(io.Discard, Job{Files: map[string]string{"/x": filepath.Dir(from)}}, nil); err == nil {
		t.Error("a folder was accepted as a file")
	}
}
