package artifacts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/transports/wire"
)

// defect is a way to damage an artifact and what Load must say of it.
type defect struct {
	damage func(t *testing.T, dir string)
	want   error
	text   string
}

func replaced(name string, content []byte) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { write(t, dir, name, content) }
}

func enlarged(name string, size int64) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, name), size)) }
}

// oneRun replaces the journal by one line of a run with these members.
func oneRun(id, members string) func(t *testing.T, dir string) {
	return replaced(JournalFile, fmt.Appendf(nil, `{"type":"run","prev":%q,"run_id":%q,%s}`+"\n", genesis, id, members))
}

func journalDefects() map[string]defect {
	long := append(bytes.Repeat([]byte("x"), MaxLineBytes+1), '\n')
	unknown := []byte(`{"type":"what","prev":"` + genesis + `"}` + "\n")
	foreign := []byte(`{"type":"probe","prev":"` + strings.Repeat("1", 64) + `"}` + "\n")
	return map[string]defect{
		"huge journal":      {enlarged(JournalFile, MaxJournalBytes+1), ErrLimit, "runs.ndjson: "},
		"long line":         {replaced(JournalFile, long), ErrLimit, "runs.ndjson:1: "},
		"no JSON":           {replaced(JournalFile, []byte("hello\n")), ErrMalf, "runs.ndjson:1: "},
		"unknown line type": {replaced(JournalFile, unknown), ErrMalf, "runs.ndjson:1: "},
		"wrong prev":        {replaced(JournalFile, foreign), ErrChain, "runs.ndjson:1: "},
		"unplanned run":     {oneRun("x/y/r1", `"attempt":1,"outcome":"ok"`), ErrMalf, `"x/y/r1" is not in the plan`},
		"attempt 2 first":   {oneRun(runID(0), `"attempt":2,"outcome":"ok"`), ErrMalf, "attempt 2 follows 0"},
		"unknown outcome":   {oneRun(runID(0), `"attempt":1,"outcome":"fine"`), ErrMalf, `"fine"`},
		"failed, no reason": {oneRun(runID(0), `"attempt":1,"outcome":"failed"`), ErrMalf, "without a reason"},
		"escaping file":     {oneRun(runID(0), `"attempt":1,"outcome":"ok","client":{"log":"../../etc/passwd"}`), ErrName, "runs.ndjson: "},
	}
}

func fileDefects() map[string]defect {
	h := strings.Repeat("a", 64)
	return map[string]defect{
		"huge manifest":    {enlarged(ManifestFile, MaxManifestBytes+1), ErrLimit, "manifest.json: "},
		"huge plan":        {enlarged(PlanFile, MaxPlanBytes+1), ErrLimit, "plan.tsv: "},
		"other format":     {replaced(ManifestFile, []byte(`{"format":2}`)), ErrFormat, "manifest.json: "},
		"plan twice":       {replaced(PlanFile, []byte("0\t0\ta/b/r1\n1\t0\ta/b/r1\n")), ErrMalf, "plan.tsv:2: "},
		"plan id escapes":  {replaced(PlanFile, []byte("0\t0\t../b/r1\n")), ErrName, "plan.tsv:1: "},
		"sums in disorder": {replaced(SumsFile, []byte(h+"  b\n"+h+"  a\n")), ErrMalf, "SHA256SUMS:2: "},
		"sums escape":      {replaced(SumsFile, []byte(h+"  ../x\n")), ErrName, "SHA256SUMS:1: "},
		"symbolic link": {func(t *testing.T, d string) {
			must(t, os.Remove(d+"/"+PlanFile))
			must(t, os.Symlink("/etc/hostname", d+"/"+PlanFile))
		}, ErrName, "plan.tsv: "},
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, set := range []map[string]defect{journalDefects(), fileDefects()} {
		for name, c := range set {
			t.Run(name, func(t *testing.T) {
				w := create(t, 2, 0)
				must(t, w.Close())
				c.damage(t, w.Dir)
				_, err := Load(w.Dir)
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Fatalf("%v, want %v with %q", err, c.want, c.text)
				}
			})
		}
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"manifest.json": true, "samples/a_b.a1.rtt.zst": true, "": false, "../x": false, "a/../b": false, "/etc": false, "a//b": false,
		".tmp/x": false, "a/.x": false, "a/b/c": false, "a b": false, "a\x00": false, `a\b`: false, "ü": false, strings.Repeat("a", 241): false,
	} {
		if err := ValidName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	for id, ok := range map[string]bool{
		"p/v/r1": true, "p-l0.5/my_driver/r12": true, "p_q/v/r1": false, "p/v/r0": false, "p/v/r01": false, "p/v/1": false, "p/v": false, "p/../r1": false,
	} {
		if err := ValidRunID(id); (err == nil) != ok {
			t.Errorf("run id %q: %v", id, err)
		}
	}
}

func TestSamplesDecoder(t *testing.T) {
	good := rawSamples(2, 2, 5, 6)
	if s, err := DecodeSamples(good); err != nil || s.Kind != wire.SamplesLoaded || s.Connections != 2 || s.NS[1] != 6 {
		t.Fatalf("%+v %v", s, err)
	}
	for n := range good {
		if _, err := DecodeSamples(good[:n]); !errors.Is(err, ErrMalf) {
			t.Fatalf("cut at %d: %v, want ErrMalf", n, err)
		}
	}
	if _, err := DecodeSamples(append(good, 0)); !errors.Is(err, ErrMalf) {
		t.Fatalf("a byte too many: %v", err)
	}
}
