package strictyaml

import (
	"strings"
	"testing"
)

type doc struct {
	Name  string    `yaml:"name"`
	Count Integer   `yaml:"count"`
	Rows  []docRow  `yaml:"rows"`
	More  []Integer `yaml:"more"`
}

type docRow struct {
	ID string `yaml:"id"`
}

const valid = "name: a\ncount: 3\nrows:\n  - id: x\n  - id: y\n"

func TestDecode(t *testing.T) {
	var d doc
	src, err := Decode("f.yaml", []byte(valid), &d)
	if err != nil || d.Name != "a" || d.Count != 3 || len(d.Rows) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	for path, want := range map[string]string{
		"rows[1].id":    "f.yaml:5: rows[1].id: is bad",
		"rows[1].other": "f.yaml:5: rows[1].other: is bad", // the row stands for what it lacks
		"nothing":       "f.yaml:1: nothing: is bad",
	} {
		if got := src.Errorf(path, "is %s", "bad").Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWrongFilesNameFileAndLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown field":   {"name: a\nnam: b\n", `f.yaml:2: unknown field "nam"`},
		"unknown in list": {"rows:\n  - id: x\n  - ix: y\n", `f.yaml:3: unknown field "ix"`},
		"duplicate key":   {"name: a\nname: b\n", `f.yaml:2: mapping key "name" already defined`},
		"fraction":        {"count: 1.5\n", "f.yaml:1: want an integer, found 1.5"},
		"text":            {"count: \"1\"\n", "f.yaml:1: want an integer, found 1"},
		"exponent":        {"count: 1e3\n", "f.yaml:1: want an integer, found 1e3"},
		"overflow":        {"count: 99999999999999999999\n", "f.yaml:1: want an integer"},
		"empty value":     {"name: a\ncount:\n", "f.yaml:2: empty values, anchors"},
		"anchor":          {"name: &x a\n", "f.yaml:1: empty values, anchors"},
		"two documents":   {"---\nname: a\n---\nname: b\n", "f.yaml: want exactly one YAML document"},
		"no mapping":      {"- a\n", "f.yaml: want a mapping"},
	} {
		if _, err := Decode("f.yaml", []byte(c.text), new(doc)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func TestHostileFilesAreRefusedEarly(t *testing.T) {
	for name, text := range map[string]string{
		"alias bomb":   "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nname: *c\n",
		"long line":    "name: " + strings.Repeat("x", maxLineBytes),
		"large file":   strings.Repeat("# comment\n", maxFileBytes/10+1),
		"deep flow":    strings.Repeat("[\n", maxBrackets+1),
		"deep block":   "name: " + strings.Repeat("- ", 2000) + "\n",
		"not text":     "\x00\xff\xfe",
		"empty":        "",
		"only comment": "# nothing\n",
	} {
		if _, err := Decode("f.yaml", []byte(text), new(doc)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want a one-line error", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("rows: [{id: x}]\ncount: 1\n? x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d doc
		src, err := Decode("f.yaml", data, &d)
		if err == nil {
			err = src.Errorf("rows[0].id", "is wrong")
		}
		if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("got %q, want one line that names the file", err)
		}
	})
}
