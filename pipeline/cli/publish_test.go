package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/analysis/summary/summarytest"
)

// answers runs bench and returns its exit code and what it wrote.
func answers(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// Each refusal names itself and its flag, and no other flag helps.
func TestPublishRefuses(t *testing.T) {
	base := invented(t, summarytest.Spec{Selection: summarytest.Small("suite=single,loss=1")})
	for flag, damage := range map[string]func(*forger){
		"--allow-dirty": func(f *forger) {
			f.manifest["code"] = map[string]any{"commit": "abc", "dirty": true, "toolchain": "go1"}
		},
		"--allow-quick":           func(f *forger) { f.manifest["kind"] = "quick" },
		"--allow-smoke":           func(f *forger) { f.manifest["kind"] = "smoke" },
		"--allow-functional-only": func(f *forger) { f.manifest["vm"] = map[string]any{"accelerator": "tcg", "functional_only": true} },
		"--allow-failing-verify":  func(f *forger) { f.after = func() { f.write("summary.tsv", "nothing") } },
		"--allow-absent-samples": func(f *forger) {
			f.after = func() { must(t, os.RemoveAll(filepath.Join(f.dir, "samples"))) }
		},
	} {
		dir := filepath.Join(t.TempDir(), "artifact")
		must(t, os.CopyFS(dir, os.DirFS(base)))
		f := openForger(t, dir)
		damage(f)
		f.close()
		code, _, stderr := answers("publish", dir, "oci-layout:"+filepath.Join(t.TempDir(), "lay"))
		if code != ExitNo || !strings.Contains(stderr, flag) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q", flag, code, stderr)
		}
	}
}

func TestPublishAndPull(t *testing.T) {
	dir, lay := honest(t), filepath.Join(t.TempDir(), "lay")
	all := []string{"--allow-dirty", "--allow-quick", "--allow-smoke"}
	to := "oci-layout:" + lay + ":first"
	code, stdout, stderr := answers(append([]string{"publish", dir, to, "--json"}, all...)...)
	if code != ExitOK || !strings.Contains(stdout, `"digest":"sha256:`) {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	out := filepath.Join(t.TempDir(), "copy")
	if code, stdout, stderr := answers("pull", to, "--out", out); code != ExitOK || !strings.Contains(stdout, "0 findings") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr := answers("verify", out); code != ExitOK {
		t.Errorf("verify: exit %d %s", code, stderr)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"publish", dir}, ExitUsage, "one reference"},
		{[]string{"publish", dir, "nowhere"}, ExitUsage, "oci://"},
		{[]string{"publish", filepath.Join(dir, "nothing"), to}, ExitUsage, "no such folder"},
		{[]string{"pull", to, "--out", out}, ExitUsage, "never overwritten"},
		{[]string{"pull", "oci-layout:" + lay}, ExitUsage, "name a tag"},
		{[]string{"pull", "oci-layout:" + lay + ":other"}, ExitUsage, "not there"},
		{[]string{"pull", to, "--capsule", filepath.Join(t.TempDir(), "c")}, ExitUsage, "no capsule"},
		{[]string{"pull", "oci://127.0.0.1:1/r:x"}, ExitEnvironment, "connection refused"},
		{[]string{"rebuild", dir}, ExitUsage, "--offline"},
		{[]string{"rebuild", dir, "--offline", "--capsule", filepath.Join(dir, "manifest.json")}, ExitUsage, "not a source capsule"},
	} {
		code, _, stderr := answers(c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q; want %d with %q", c.args, code, stderr, c.code, c.want)
		}
	}
}
