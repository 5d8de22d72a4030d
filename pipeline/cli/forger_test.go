package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"transportbench/artifacts"
)

// forger changes an artifact and makes chain, manifest, sums and derived files fit again, as one would who wants to be believed.
type forger struct {
	t        *testing.T
	dir      string
	lines    [][]byte
	manifest map[string]any
	after    func() // changes that nothing is made to fit to
}

func openForger(t *testing.T, dir string) *forger {
	t.Helper()
	f := &forger{t: t, dir: dir}
	b := f.read(artifacts.JournalFile)
	f.lines = bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	must(t, json.Unmarshal(f.read(artifacts.ManifestFile), &f.manifest))
	return f
}

func (f *forger) read(name string) []byte {
	f.t.Helper()
	b, err := os.ReadFile(filepath.Join(f.dir, name))
	must(f.t, err)
	return b
}

func (f *forger) write(name, data string) {
	f.t.Helper()
	must(f.t, os.WriteFile(filepath.Join(f.dir, name), []byte(data), 0o644))
}

// edit replaces text in a file; it must be there.
func (f *forger) edit(name, old, fresh string) {
	f.t.Helper()
	s := string(f.read(name))
	if !strings.Contains(s, old) {
		f.t.Fatalf("%s has no %q", name, old)
	}
	f.write(name, strings.Replace(s, old, fresh, 1))
}

// rehash edits a derived file and its line in the list of sums.
func (f *forger) rehash(name, old, fresh string) {
	f.t.Helper()
	before := fmt.Sprintf("%x", sha256.Sum256(f.read(name)))
	f.edit(name, old, fresh)
	f.edit(artifacts.DerivedSums, before, fmt.Sprintf("%x", sha256.Sum256(f.read(name))))
}

func (f *forger) replace(i int, old, fresh string) {
	f.t.Helper()
	if !bytes.Contains(f.lines[i], []byte(old)) {
		f.t.Fatalf("line %d has no %q:\n%.3000s", i, old, f.lines[i])
	}
	f.lines[i] = bytes.Replace(f.lines[i], []byte(old), []byte(fresh), 1)
}

// number replaces the number behind key by half of it and one digit.
func (f *forger) number(i int, key string, digit int) {
	f.t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(key) + `(\d*)`).FindSubmatch(f.lines[i])
	if found == nil {
		f.t.Fatalf("line %d has no %q:\n%.3000s", i, key, f.lines[i])
	}
	var v int64
	_, _ = fmt.Sscan(string(found[1]), &v) // empty: 0
	f.replace(i, string(found[0]), fmt.Sprintf("%s%d", key, v/2+int64(digit)))
}

func (f *forger) count(name string, by float64) {
	v, _ := f.manifest[name].(float64)
	f.manifest[name] = v + by
}

// fail turns a run into a failed one, counted as such.
func (f *forger) fail(i int) {
	f.replace(i, `"outcome":"ok"`, `"outcome":"failed","reason":"client exit 1"`)
	f.count("ok", -1)
	f.count("failed", 1)
}

// report adds the page and the plots of what the artifact says now.
func (f *forger) report() {
	f.t.Helper()
	_, err := writeReport(f.dir, false)
	must(f.t, err)
}

func (f *forger) swapSamples(i, k int) {
	name := func(i int) string {
		found := regexp.MustCompile(`"file":"([^"]*)"`).FindSubmatch(f.lines[i])
		return string(found[1])
	}
	a, b := f.read(name(i)), f.read(name(k))
	f.write(name(i), string(b))
	f.write(name(k), string(a))
}

// close makes everything fit again.
func (f *forger) close() {
	f.t.Helper()
	prev := strings.Repeat("0", 64)
	var journal []byte
	for _, l := range f.lines {
		l = regexp.MustCompile(`"prev":"[0-9a-f]{64}"`).ReplaceAll(l, []byte(`"prev":"`+prev+`"`))
		prev = fmt.Sprintf("%x", sha256.Sum256(l))
		journal = append(append(journal, l...), '\n')
	}
	f.write(artifacts.JournalFile, string(journal))
	f.manifest["journal_head"], f.manifest["journal_lines"] = prev, len(f.lines)
	b, err := json.MarshalIndent(f.manifest, "", "  ")
	must(f.t, err)
	f.write(artifacts.ManifestFile, string(b)+"\n")
	var sums strings.Builder
	for line := range strings.Lines(string(f.read(artifacts.SumsFile))) {
		name := strings.TrimSpace(line[66:])
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.read(name)), name)
	}
	f.write(artifacts.SumsFile, sums.String())
	var coded *codeError
	if err := derive(f.dir, &bytes.Buffer{}); !errors.As(err, &coded) || coded.code != ExitNo { // it wrote, and found that samples disagree
		must(f.t, err)
	}
	if f.after != nil {
		f.after()
	}
}
