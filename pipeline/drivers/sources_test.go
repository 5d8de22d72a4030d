package drivers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git itself says what the id of a tree is.
func TestTreeIDIsThatOfGit(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a.c", "a/b.go", "a/d/c.go", "a-b/x", "a0", "z/y/x/w.yaml"}
	for _, n := range names {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(n)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, n), []byte(n+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		if _, err := gitOutput(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	want, err := gitOutput(t.Context(), dir, "write-tree")
	if err != nil {
		t.Fatal(err)
	}
	files, err := readSources(dir, names)
	if err != nil {
		t.Fatal(err)
	}
	if got := TreeID(files); got != strings.TrimSpace(string(want)) {
		t.Errorf("got %s, git says %s", got, want)
	}
}

func TestGoSourcesNameCodeAndEmbeddedFiles(t *testing.T) {
	files, err := goSources(t.Context(), filepath.Join("..", ".."), "pipeline/matrix")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.Path] = true
	}
	for path, want := range map[string]bool{
		"pipeline/matrix/decode.go": true, "pipeline/matrix/published.yaml": true, "transports/wire/config.go": true,
		"pipeline/matrix/decode_test.go": false,
	} {
		if seen[path] != want {
			t.Errorf("%s: listed %t, want %t", path, seen[path], want)
		}
	}
}

func TestRecipeRoundTrip(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "d")
	if err := os.WriteFile(bin, []byte("binary"), 0o755); err != nil {
		t.Fatal(err)
	}
	sum, err := Digest(bin)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := ReadRecipe(bin); ok || err != nil {
		t.Fatalf("no recipe: ok %t, %v", ok, err)
	}
	want := Recipe{SHA256: sum, CToolchain: "gcc 12, ld 2.40", Core: "node-kcp-1.0.13", Files: []SourceFile{{"a.c", gitID("blob", nil)}, {"b/c.h", gitID("blob", []byte("x"))}}}
	write(t, dir, "d"+sourcesSuffix, string(want.marshal()))
	got, ok, err := ReadRecipe(bin)
	if err != nil || !ok || got.CToolchain != want.CToolchain || got.Core != want.Core || TreeID(got.Files) != TreeID(want.Files) {
		t.Fatalf("%+v ok %t, %v", got, ok, err)
	}
	if err := os.WriteFile(bin, []byte("another"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := ReadRecipe(bin); ok || err != nil {
		t.Errorf("the recipe of another binary was taken: ok %t, %v", ok, err)
	}
}

func TestWrongRecipes(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"no binary":     "100644 blob " + strings.Repeat("0", 40) + "\ta\n",
		"binary twice":  "binary\tsha256:" + strings.Repeat("0", 64) + "\nbinary\tsha256:" + strings.Repeat("0", 64) + "\n",
		"short id":      "binary\tsha256:" + strings.Repeat("0", 64) + "\n100644 blob 00\ta\n",
		"torn line":     "binary\tsha256:" + strings.Repeat("0", 64),
		"control bytes": "binary\tsha256:" + strings.Repeat("0", 64) + "\ntoolchain\tgcc\x1b\n",
	} {
		if r, err := parseRecipe(text); err == nil {
			t.Errorf("%s: accepted as %+v", name, r)
		}
	}
}

func FuzzParseRecipe(f *testing.F) {
	f.Add("binary\tsha256:" + strings.Repeat("a", 64) + "\ntoolchain\tgcc\n100644 blob " + strings.Repeat("b", 40) + "\tx/y.c\n")
	f.Add("binary\t")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRecipe(text)
		if err != nil {
			return
		}
		if again, err := parseRecipe(string(r.marshal())); err != nil || again.SHA256 != r.SHA256 || len(again.Files) != len(r.Files) {
			t.Errorf("%+v does not survive writing: %v", r, err)
		}
	})
}

func TestCToolchainNamesItsParts(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Fatal(err) // the gate installs it
	}
	id, err := CToolchain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"gcc", "ld", "libc.a sha256:"} {
		if !strings.Contains(id, part) {
			t.Errorf("%q lacks %q", id, part)
		}
	}
	t.Log(id)
}
