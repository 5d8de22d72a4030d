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

func TestLoadRefuses(t *testing.T) {
	huge := func(t *testing.T, dir, name string, n int64) { must(t, os.Truncate(filepath.Join(dir, name), n)) }
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   error
		text   string
	}{
		"huge manifest": {func(t *testing.T, d string) { huge(t, d, ManifestFile, MaxManifestBytes+1) }, ErrLimit, "manifest.json: "},
		"huge plan":     {func(t *testing.T, d string) { huge(t, d, PlanFile, MaxPlanBytes+1) }, ErrLimit, "plan.tsv: "},
		"huge journal":  {func(t *testing.T, d string) { huge(t, d, JournalFile, MaxJournalBytes+1) }, ErrLimit, "runs.ndjson: "},
		"long line": {func(t *testing.T, d string) {
			write(t, d, JournalFile, append(bytes.Repeat([]byte("x"), MaxLineBytes+1), '\n'))
		}, ErrLimit, "runs.ndjson:1: "},
		"no JSON":           {func(t *testing.T, d string) { write(t, d, JournalFile, []byte("hello\n")) }, ErrMalf, "runs.ndjson:1: "},
		"unknown line type": {func(t *testing.T, d string) { journalLine(t, d, `{"type":"what","prev":"`+genesis+`"}`) }, ErrMalf, "runs.ndjson:1: "},
		"wrong prev": {func(t *testing.T, d string) {
			journalLine(t, d, `{"type":"probe","prev":"`+strings.Repeat("1", 64)+`"}`)
		}, ErrChain, "runs.ndjson:1: "},
		"unplanned run": {func(t *testing.T, d string) { journalLine(t, d, run(`"run_id":"x/y/r1","attempt":1,"outcome":"ok"`)) }, ErrMalf, `"x/y/r1" is not in the plan`},
		"attempt 2 first": {func(t *testing.T, d string) {
			journalLine(t, d, run(fmt.Sprintf(`"run_id":%q,"attempt":2,"outcome":"ok"`, runID(0))))
		}, ErrMalf, "attempt 2 follows 0"},
		"unknown outcome": {func(t *testing.T, d string) {
			journalLine(t, d, run(fmt.Sprintf(`"run_id":%q,"attempt":1,"outcome":"fine"`, runID(0))))
		}, ErrMalf, `"fine"`},
		"failed, no reason": {func(t *testing.T, d string) {
			journalLine(t, d, run(fmt.Sprintf(`"run_id":%q,"attempt":1,"outcome":"failed"`, runID(0))))
		}, ErrMalf, "without a reason"},
		"escaping file": {func(t *testing.T, d string) {
			journalLine(t, d, run(fmt.Sprintf(`"run_id":%q,"attempt":1,"outcome":"ok","client":{"log":"../../etc/passwd"}`, runID(0))))
		}, ErrName, "runs.ndjson: "},
		"other format": {func(t *testing.T, d string) { write(t, d, ManifestFile, []byte(`{"format":2}`)) }, ErrFormat, "manifest.json: "},
		"plan twice": {func(t *testing.T, d string) {
			write(t, d, PlanFile, []byte("0\t0\ta/b/r1\n1\t0\ta/b/r1\n"))
		}, ErrMalf, "plan.tsv:2: "},
		"plan id escapes": {func(t *testing.T, d string) { write(t, d, PlanFile, []byte("0\t0\t../b/r1\n")) }, ErrName, "plan.tsv:1: "},
		"symbolic link": {func(t *testing.T, d string) {
			must(t, os.Remove(d+"/"+PlanFile))
			must(t, os.Symlink("/etc/hostname", d+"/"+PlanFile))
		}, ErrName, "plan.tsv: "},
		"sums in disorder": {func(t *testing.T, d string) {
			h := strings.Repeat("a", 64)
			write(t, d, SumsFile, []byte(h+"  b\n"+h+"  a\n"))
		}, ErrMalf, "SHA256SUMS:2: "},
		"sums escape": {func(t *testing.T, d string) { write(t, d, SumsFile, []byte(strings.Repeat("a", 64)+"  ../x\n")) }, ErrName, "SHA256SUMS:1: "},
	} {
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

func journalLine(t *testing.T, dir, s string) { write(t, dir, JournalFile, []byte(s+"\n")) }

func run(fields string) string { return `{"type":"run","prev":"` + genesis + `",` + fields + `}` }

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
