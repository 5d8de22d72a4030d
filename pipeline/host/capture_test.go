package host

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// machine returns a recorded machine as a file system.
func machine(t testing.TB, name string) fs.FS {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := txtar.FS(a)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// TestRecordedMachines compares all that is read from each recorded machine with its golden file.
func TestRecordedMachines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("recorded machines %q: %v", files, err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txtar")
		t.Run(name, func(t *testing.T) {
			env := Capture(machine(t, name), Options{})
			env.OS, env.Arch, env.Label = "test", "test", "test" // of the machine that runs the test
			got, err := json.MarshalIndent(Report{Environment: &env, Counters: Read(machine(t, name), time.Second, []int{77, 78})}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name+".golden.json"), append(got, '\n'))
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestFacts states the facts that a reader of the golden files must not have to find.
func TestFacts(t *testing.T) {
	v2, v1, arm := capture(t, "x86-v2"), capture(t, "x86-v1"), capture(t, "arm-none")
	for _, c := range []struct{ what, got, want string }{
		{"v2 version", v2.Cgroup.Version, "2"},
		{"v2 tightest quota is an ancestor's", v2.Cgroup.QuotaUS.String(), "150000"},
		{"v2 memory limit is an ancestor's", v2.Cgroup.MemoryMax.String(), "8589934592"},
		{"v2 cpuset", v2.Cgroup.Cpuset, "0-3"},
		{"cores", v2.CPU.Cores.String(), "2"},
		{"governors differ", v2.CPU.Governor, "performance powersave"},
		{"no_turbo is reversed", v2.CPU.Boost, "off"},
		{"empty isolated", v2.CPU.Isolated, "none"},
		{"bare metal", v2.Hypervisor, "none"},
		{"host name is not taken", v2.HostName, ""},
		{"v1 version", v1.Cgroup.Version, "1"},
		{"v1 quota at the top of a container", v1.Cgroup.QuotaUS.String(), "50000"},
		{"v1 memory without a limit", v1.Cgroup.MemoryLimit + " " + v1.Cgroup.MemoryMax.String(), "none unknown"},
		{"v1 cpuset", v1.Cgroup.Cpuset, "2,4"},
		{"v1 container", v1.Container, "docker"},
		{"guest", v1.Hypervisor, "QEMU Standard PC"},
		{"PSI absent", v1.PSI, Unknown},
		{"ARM guest or not", arm.Hypervisor, Unknown},
		{"ARM model", arm.CPU.Model, "part 0xd0c variant 0x3 revision 1"},
		{"no cgroups", arm.Cgroup.Version, "none"},
		{"no limits known", arm.Cgroup.CPULimit, Unknown},
		{"toolchain not passed", arm.Toolchains["gcc"], Unknown},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

func capture(t *testing.T, name string) Environment {
	t.Helper()
	return Capture(machine(t, name), Options{})
}

// TestNothingIsUnknown holds on a machine with no files at all: no zero, no empty text, no "ok".
func TestNothingIsUnknown(t *testing.T) {
	a, err := txtar.FS(&txtar.Archive{})
	if err != nil {
		t.Fatal(err)
	}
	env := Capture(a, Options{WithHostName: true})
	env.Label = Unknown
	b, err := json.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "os")
	delete(m, "arch")
	onlyUnknown(t, "", m)
}

func onlyUnknown(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			onlyUnknown(t, at+"."+k, x)
		}
	default:
		if v != Unknown {
			t.Errorf("%s is %v, want %q", at, v, Unknown)
		}
	}
}

func TestOptions(t *testing.T) {
	root := machine(t, "x86-v2")
	e := Capture(root, Options{WithHostName: true, Label: "lab-1", Toolchains: map[string]string{"go": "go1.26"}, Binaries: map[string]string{"tcp": "ab"}})
	if e.HostName != "secret-name" || e.Label != "lab-1" || e.Toolchains["go"] != "go1.26" || e.Binaries["tcp"] != "ab" {
		t.Errorf("options are not in %+v", e)
	}
	a, b := Capture(root, Options{}), Capture(root, Options{WithHostName: true})
	if a.Label != b.Label || !strings.HasPrefix(a.Label, "host-") || strings.Contains(a.Label, "secret") {
		t.Errorf("labels %q and %q: want one hash without the host name", a.Label, b.Label)
	}
	if other := capture(t, "x86-v1"); other.Label == a.Label {
		t.Errorf("two machines share the label %q", a.Label)
	}
}

func TestDigest(t *testing.T) {
	// FIPS 180-2, appendix B.1.
	got, err := Digest(strings.NewReader("abc"))
	if want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; err != nil || got != want {
		t.Errorf("digest %s: want %s (%v)", got, want, err)
	}
}
