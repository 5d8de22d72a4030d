package images

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const clang = "clang 19, lld 19, glibc 2.41 libc.a sha256:ba9876543210"

// lines renders findings shortly: part, result and reason.
func lines(all []Finding) []string {
	var out []string
	for _, f := range all {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s: %s", f.Part, f.Result, f.Why)))
	}
	return out
}

func TestRebuilt(t *testing.T) {
	have := built(t, folder(t, gcc))["tcp"]
	other := func(name, text, cc string) Image {
		dir := folder(t, gcc)
		place(t, dir, name, program(elf.EM_X86_64, text), cc)
		return built(t, dir)["tcp"]
	}
	unbuilt := Image{Name: "tcp", Missing: "no compiler"}
	for name, c := range map[string]struct {
		have, again Image
		want        []string
	}{
		"the same": {have, built(t, folder(t, gcc))["tcp"], []string{"image same:"}},
		"another driver": {have, other("tcp", "changed", gcc), []string{
			"image differs: see /driver", "/launch same:", "/driver differs:", "/results same:"}},
		"another compiler": {have, other("launch", "by clang", clang), []string{
			"image not comparable: made by " + gcc + ", the other by " + clang,
			"/launch not comparable: made by " + gcc + ", the other by " + clang, "/driver same:", "/results same:"}},
		"unknown making": {have, other("launch", "by whom", ""), []string{
			"image differs: other labels", // it has no revision
			"/launch not comparable: made by " + gcc + ", the other by an unknown toolchain", "/driver same:", "/results same:"}},
		"not built": {unbuilt, have, []string{"image not built: no compiler"}},
		"not again": {have, unbuilt, []string{"image differs: the second build has none: no compiler"}},
	} {
		if d := cmp.Diff(c.want, lines(Rebuilt(c.have, c.again))); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// A changed driver is found even where the C layer beside it cannot be compared.
func TestAnotherCompilerHidesNoOtherDifference(t *testing.T) {
	have := built(t, folder(t, gcc))["tcp"]
	dir := folder(t, gcc)
	place(t, dir, "launch", program(elf.EM_X86_64, "by clang"), clang)
	place(t, dir, "tcp", program(elf.EM_X86_64, "changed"), gcc)
	if got := Rebuilt(have, built(t, dir)["tcp"])[0]; got.Result != Differs || got.Why != "see /driver" {
		t.Errorf("%+v", got)
	}
	foreign := folder(t, gcc)
	place(t, foreign, "launch", program(elf.EM_X86_64, "by clang"), clang)
	recipe, err := os.ReadFile(filepath.Join(foreign, "tcp.sources"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(foreign, "tcp.sources"), append(recipe, "100644 blob 0123456789012345678901234567890123456789\tmore.c\n"...), 0o644)
	if got := Rebuilt(have, built(t, foreign)["tcp"])[0]; got.Result != Differs || got.Why != "other labels" {
		t.Errorf("%+v", got)
	}
}

func TestTheSameLayersUnderAnotherConfigurationDiffer(t *testing.T) {
	dir := folder(t, gcc)
	have := built(t, dir)["tcp"]
	for why, change := range map[string][2]string{
		"other labels": {"title: driver", "title: another"}, "other configuration": {"[/launch]", "[/launch, -nice, '10']"},
	} {
		s, err := parse([]byte(strings.Replace(specText, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Build(dir, "", Options{Names: []string{"tcp"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := Rebuilt(have, again[0])[0]; got.Result != Differs || got.Why != why {
			t.Errorf("%+v, want %s", got, why)
		}
	}
}

const pinsText = `{
  "toolchain": "go1.26.8",
  "drivers": {"linux/amd64": {"tcp": "sha256:x"}},
  "kcp": {
    "zz": 1,
    "commit": "b1a7"
  }
}
`

func TestFreezeAndCompareWithPins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	write(t, path, []byte(pinsText), 0o644)
	dir := folder(t, gcc)
	have := built(t, dir)
	if err := Freeze(path, gcc, []Image{have["tcp"], {Name: "raknet", Missing: "not built"}}); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !orderly(string(first), `"toolchain"`, `"drivers"`, `"kcp"`, `"zz"`, `"commit"`, `"images"`, gcc, `"config"`) || strings.Contains(string(first), "raknet") {
		t.Errorf("%s", first)
	}
	if err := Freeze(path, gcc, []Image{have["tcp"]}); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(first) {
		t.Errorf("freezing the same changes the file (%v)\n%s", err, again)
	}
	p, err := ReadPins(path)
	if err != nil {
		t.Fatal(err)
	}
	place(t, dir, "launch", program(elf.EM_X86_64, "by clang"), clang)
	foreign := built(t, dir)["tcp"]
	place(t, dir, "launch", program(elf.EM_X86_64, "changed"), gcc)
	for name, c := range map[string]struct {
		i    Image
		want Result
	}{
		"as pinned": {have["tcp"], Same}, "no pin": {have["udp"], NotPinned}, "another compiler": {foreign, NotComparable},
		"changed": {built(t, dir)["tcp"], Differs}, "not built": {Image{Name: "tcp", Missing: "why"}, NotBuilt},
	} {
		if got := p.Pinned(c.i); got.Result != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// orderly says whether the parts occur in text one after the other.
func orderly(text string, parts ...string) bool {
	for _, p := range parts {
		_, after, ok := strings.Cut(text, p)
		if !ok {
			return false
		}
		text = after
	}
	return true
}

func TestWrongPins(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":    "{",
		"no digest":   `{"images":{"linux/amd64":{"gcc":{"tcp":{"config":"latest","manifest":"latest"}}}}}`,
		"wrong layer": `{"images":{"p":{"gcc":{"tcp":{"config":"sha256:` + strings.Repeat("a", 64) + `","manifest":"sha256:` + strings.Repeat("a", 64) + `","layers":{"/x":"y"}}}}}}`,
	} {
		path := filepath.Join(t.TempDir(), "pins.json")
		write(t, path, []byte(text), 0o644)
		if _, err := ReadPins(path); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if err := Freeze(path, gcc, nil); err == nil {
			t.Errorf("%s: frozen over", name)
		}
	}
}

func FuzzPins(f *testing.F) {
	f.Add([]byte(pinsText))
	f.Add([]byte(`{"images":{"a":{"b":{"c":{}}}},"images":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := decodePins("pins.json", text)
		if err != nil {
			return
		}
		out, err := replaceField(text, "images", p.Images)
		if err != nil {
			return
		}
		again, err := decodePins("pins.json", out)
		if err != nil || cmp.Diff(p.Images, again.Images) != "" {
			t.Errorf("%s becomes %s (%v)", text, out, err)
		}
	})
}
