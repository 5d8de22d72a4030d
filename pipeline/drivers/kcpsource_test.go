package drivers

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// coreRepo makes a git repository that looks like the core's and returns its folder and a pin of its commit.
func coreRepo(t *testing.T) (string, kcpPin) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "ikcp.c", "int core;\n")
	write(t, dir, "ikcp.h", "extern int core;\n")
	write(t, dir, "docs/notes.txt", "notes\n")
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "config", "uploadpack.allowAnySHA1InWant", "true")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "core")
	return dir, kcpPin{URL: "file://" + dir, Commit: git(t, dir, "rev-parse", "HEAD"), Tree: git(t, dir, "rev-parse", "HEAD^{tree}")}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// export copies a checkout without its history.
func export(t *testing.T, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "export")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func noRoute(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nobody listens there any more
	return "http://" + l.Addr().String() + "/kcp"
}

func cacheIn(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	return filepath.Join(dir, "transportbench", "kcp")
}

func TestLocalCoreKnowsWhatItIs(t *testing.T) {
	repo, pin := coreRepo(t)
	dirty := export(t, repo)
	write(t, dirty, "ikcp.c", "int other;\n")
	npm := filepath.Join(dirty, "src", "kcp")
	write(t, npm, "ikcp.c", "int core;\n")
	write(t, npm, "ikcp.h", "\n")
	write(t, dirty, "package.json", `{"name":"node-kcp","version":"1.0.13"}`)
	changed := filepath.Join(t.TempDir(), "changed")
	if err := os.CopyFS(changed, os.DirFS(repo)); err != nil {
		t.Fatal(err)
	}
	write(t, changed, "ikcp.c", "int changed;\n")
	for _, c := range []struct{ name, dir, want string }{
		{"checkout", repo, pin.Commit},
		{"export with the pinned tree", export(t, repo), pin.Commit},
		{"npm package", npm, "node-kcp-1.0.13"},
		{"changed checkout", changed, "sha256-"},
	} {
		got, err := localCore(t.Context(), pin, c.dir)
		if err != nil || !strings.HasPrefix(got.version, c.want) || len(got.files) != 2 {
			t.Errorf("%s: %q %v, want %s", c.name, got.version, err, c.want)
		}
	}
	if _, err := localCore(t.Context(), pin, t.TempDir()); err == nil || !strings.Contains(err.Error(), "does not have ikcp.c") {
		t.Errorf("empty folder: %v", err)
	}
}

func TestOnlyThePinnedCoreUnlessAllowed(t *testing.T) {
	repo, pin := coreRepo(t)
	pin.Commit, pin.Tree = strings.Repeat("1", 40), ""
	_, err := findCore(t.Context(), pin, repo, false)
	var missing *SourceError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "the pinned one is 1111111; give --allow-unpinned") {
		t.Fatalf("%v", err)
	}
	got, err := findCore(t.Context(), pin, repo, true)
	if err != nil || columnOf(got.version) != "kcp-c@"+git(t, repo, "rev-parse", "HEAD") {
		t.Fatalf("%q %v", got.version, err)
	}
}

func TestFetchByGitIsKept(t *testing.T) {
	repo, pin := coreRepo(t)
	cacheIn(t)
	for _, url := range []string{pin.URL, noRoute(t)} { // the second time nothing is fetched
		pin.URL = url
		got, err := findCore(t.Context(), pin, "", false)
		if err != nil || got.version != pin.Commit || string(got.files["ikcp.c"]) != "int core;\n" {
			t.Fatalf("%+v %v", got, err)
		}
	}
	pin.URL, pin.Commit = "file://"+repo, strings.Repeat("2", 40)
	if _, err := findCore(t.Context(), pin, "", false); err == nil || !strings.Contains(err.Error(), "kcp source at 2222222 not available") {
		t.Fatalf("a commit that does not exist: %v", err)
	}
}

func archiveOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFetchByArchiveChecksItsDigest(t *testing.T) {
	good := archiveOf(t, map[string]string{"kcp-1/ikcp.c": "int core;\n", "kcp-1/ikcp.h": "\n", "kcp-1/sub/ikcp.c": "wrong"})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(good) }))
	defer s.Close()
	pin := kcpPin{URL: noRoute(t), Archive: s.URL, Commit: strings.Repeat("3", 40), SHA256: strings.Repeat("0", 64)}
	cache := cacheIn(t)
	if _, err := findCore(t.Context(), pin, "", false); err == nil || !strings.Contains(err.Error(), "sha256 is "+digestOf(good)) {
		t.Fatalf("a wrong archive: %v", err)
	}
	pin.SHA256 = digestOf(good)
	got, err := findCore(t.Context(), pin, "", false)
	if err != nil || string(got.files["ikcp.c"]) != "int core;\n" {
		t.Fatalf("%+v %v", got, err)
	}
	// What lies in the cache is checked again.
	write(t, cache, pin.Commit+"/archive.tar.gz", "junk")
	s.Close()
	if _, err := findCore(t.Context(), pin, "", false); err == nil || !strings.Contains(err.Error(), "no route to its host") {
		t.Fatalf("a broken cache: %v", err)
	}
}

func TestWithoutRouteTheReasonIsKept(t *testing.T) {
	cacheIn(t)
	root, dir := t.TempDir(), t.TempDir()
	url := noRoute(t)
	write(t, root, "containers/pins.json", `{"kcp":{"url":"`+url+`","archive":"`+url+`","commit":"b1a7a2101dcbb96017681a500d6b82bbe5a88766"}}`)
	var got []Built
	b := builder{root: root, dir: dir}
	if err := b.buildKCP(t.Context(), source{name: "kcp-c", c: "transports/kcp"}, Options{}, func(b Built) { got = append(got, b) }); err != nil {
		t.Fatal(err)
	}
	const want = "kcp source at b1a7a21 not available (no route to its host); set KCP_SRC"
	if len(got) != 1 || got[0].Skipped != "unsupported: "+want {
		t.Errorf("%+v", got)
	}
	if d := Find(t.Context(), dir, nil, []string{"kcp-c"})[0]; d.Missing != want {
		t.Errorf("missing %q", d.Missing)
	}
}

func TestListShowsOtherCores(t *testing.T) {
	dir := t.TempDir()
	script(t, dir, columnOf("node-kcp-1.0.13"), good)
	found := List(t.Context(), dir, nil)
	last := found[len(found)-1]
	if last.Name != "kcp-c@node-kcp-1.0.13" || last.Missing != "" || len(found) != len(Names())+1 {
		t.Errorf("%+v", last)
	}
}

func TestPinOfThisRepository(t *testing.T) {
	pin, err := readKCPPin("../../containers/pins.json")
	if err != nil {
		t.Fatal(err)
	}
	if pin.Commit != "b1a7a2101dcbb96017681a500d6b82bbe5a88766" || len(pin.SHA256) != 64 || !hexCommit.MatchString(pin.Tree) ||
		!strings.Contains(pin.Archive, pin.Commit) || !strings.HasPrefix(pin.URL, "https://") {
		t.Errorf("%+v", pin)
	}
	if _, err := ReadPins("../../containers/pins.json"); err != nil {
		t.Error(err)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, b []byte) {
		if files, err := unpack(b); err == nil && len(files) != 2 {
			t.Fatalf("%d files", len(files))
		}
	})
}
