package drivers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transportbench/transports/wire"
)

// script writes an executable shell script. Drivers get an empty environment, so it uses built-in commands only.
func script(t *testing.T, dir, name, body string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

const good = `[ "$1" = describe ] || exit 2
echo '{"type":"describe","contract":1,"transport":"fake","apis":["send"],"reliable":true}'`

func TestDescribe(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"good":           {good, ""},
		"no JSON":        {"echo hello", "not one JSON object"},
		"two objects":    {good + "; echo '{}'", "not one JSON object"},
		"other type":     {`echo '{"type":"hello"}'`, `record of type "hello"`},
		"other contract": {`echo '{"type":"describe","contract":9}'`, "driver contract 9, this bench speaks 1"},
		"no API":         {`echo '{"type":"describe","contract":1}'`, "no API is offered"},
		"exit code":      {"echo no luck >&2; exit 3", "exit status 3 (no luck)"},
		"endless":        {"while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; i=x$i; [ ${#i} -gt 3000 ] && exit 0; done", "more than 65536 bytes"},
		"environment":    {`[ -z "$HOME" ] || exit 9; ` + good, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Describe(t.Context(), script(t, t.TempDir(), "d", c.body))
			if c.want == "" && (err != nil || d.Transport != "fake") {
				t.Fatalf("%+v, %v", d, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestDescribeKeepsItsDeadline(t *testing.T) {
	path := script(t, t.TempDir(), "d", "read x < /dev/zero")
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := Describe(ctx, path); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Fatalf("%v, want no answer", err)
	}
}

func TestFindTellsWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	script(t, dir, "tcp", good)
	script(t, dir, "quic-go", "echo junk")
	mine := script(t, t.TempDir(), "mine", good)
	found := Find(t.Context(), dir, map[string]string{"mine": mine, "gone": dir + "/nowhere"}, []string{"tcp", "raknet", "quic-go", "mine", "gone"})
	want := []string{"", "driver raknet not built: ", "driver quic-go: describe: ", "", "driver gone is not where --driver says: "}
	for i, d := range found {
		if (d.Missing == "") != (want[i] == "") || !strings.HasPrefix(d.Missing, want[i]) {
			t.Errorf("%s: missing %q, want %q", d.Name, d.Missing, want[i])
		}
	}
	if sum, err := Digest(mine); err != nil || found[3].SHA256 != sum || !found[3].Bound || found[3].Describe == nil {
		t.Errorf("bound driver %+v, %v", found[3], err)
	}
	if strings.Contains(found[4].Missing, "bench drivers build") || !strings.Contains(found[1].Missing, "bench drivers build") {
		t.Errorf("fixes: %q, %q", found[4].Missing, found[1].Missing)
	}
}

func TestListNamesEveryDriverOnce(t *testing.T) {
	seen := map[string]int{}
	for _, d := range List(t.Context(), t.TempDir(), map[string]string{"tcp": "/nowhere", "mine": "/nowhere"}) {
		seen[d.Name]++
		if d.Missing == "" {
			t.Errorf("%s: not missing in an empty folder", d.Name)
		}
	}
	for _, n := range append(Names(), "mine") {
		if seen[n] != 1 {
			t.Errorf("%s is listed %d times", n, seen[n])
		}
	}
}

func TestDirNeverSearchesPath(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	t.Setenv("PATH", root)
	bench := filepath.Join(root, "bin", "bench")
	if _, err := Dir("", bench); err == nil || !strings.Contains(err.Error(), "bench drivers build") {
		t.Fatalf("%v, want the fix", err)
	}
	mk := func(dir string) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mk(BuildDir("."))
	if d, err := Dir("", bench); err != nil || d != BuildDir(".") {
		t.Fatalf("%q %v, want the build folder", d, err)
	}
	mk(filepath.Join(root, "libexec", "transportbench"))
	if d, err := Dir("", bench); err != nil || d != filepath.Join(root, "libexec", "transportbench") {
		t.Fatalf("%q %v, want libexec", d, err)
	}
	if _, err := Dir(filepath.Join(root, "nowhere"), bench); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%v: a folder that was asked for and is not there", err)
	}
}

func TestPinsReportDriftAsFlag(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	text := `{"toolchain":"go1.26.8","images":{},"drivers":{"` + Platform() + `":{"tcp":"sha256:` + a + `","udp":"sha256:` + b + `"}}}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := ReadPins(path)
	if err != nil {
		t.Fatal(err)
	}
	found := []Driver{{Name: "tcp", SHA256: a}, {Name: "udp", SHA256: a}, {Name: "kcp-go", SHA256: a}, {Name: "raknet"}, {Name: "mine", SHA256: a, Bound: true}}
	p.Mark(found)
	for i, drift := range []bool{false, true, true, false, false} {
		if (found[i].Drift != "") != drift {
			t.Errorf("%s: drift %q", found[i].Name, found[i].Drift)
		}
	}
	if err := os.WriteFile(path, []byte(`{"drivers":{"x":{"tcp":"latest"}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPins(path); err == nil || !strings.Contains(err.Error(), `"latest"`) {
		t.Fatalf("%v: a pin that is no digest", err)
	}
}

func FuzzDecodeDescribe(f *testing.F) {
	f.Add([]byte(`{"type":"describe","contract":1,"apis":["send"]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := decodeDescribe(b); err == nil && (d.Type != wire.TypeDescribe || len(d.APIs) == 0) {
			t.Fatalf("accepted %+v", d)
		}
	})
}
