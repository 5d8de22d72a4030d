package artifacts

import (
	"os"
	"testing"
)

// FuzzLoad feeds hostile files to the loader: it may refuse, it may not panic, and what it accepts holds its promises.
func FuzzLoad(f *testing.F) {
	w := create(f, 2, 2)
	must(f, w.Close())
	m, p, j := read(f, w.Dir, ManifestFile), read(f, w.Dir, PlanFile), read(f, w.Dir, JournalFile)
	dir := sealed(f, 1)
	f.Add(m, p, j, []byte(nil))
	f.Add(m, p, j[:len(j)/2], []byte(nil))
	f.Add(read(f, dir, ManifestFile), read(f, dir, PlanFile), read(f, dir, JournalFile), read(f, dir, SumsFile))
	f.Fuzz(func(t *testing.T, m, p, j, sums []byte) {
		dir := tempDir(t)
		write(t, dir, ManifestFile, m)
		write(t, dir, PlanFile, p)
		write(t, dir, JournalFile, j)
		if sums != nil {
			write(t, dir, SumsFile, sums)
		}
		if a, err := Load(dir); err == nil {
			if ok, failed, unsupported, notRun := a.Count(); ok+failed+unsupported+notRun != len(a.Plan) {
				t.Fatalf("%d+%d+%d+%d is not %d", ok, failed, unsupported, notRun, len(a.Plan))
			}
		}
		if r, err := OpenResume(dir); err == nil {
			must(t, r.AppendResume(&r.Resume))
			must(t, r.Close())
			if _, err := Load(dir); err != nil {
				t.Fatalf("repaired, and not readable: %v", err)
			}
		}
	})
}

func FuzzDecodeSamples(f *testing.F) {
	f.Add(rawSamples(1, 1, 1, 2, 3))
	f.Add(rawSamples(2, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := DecodeSamples(b); err == nil && 8*len(s.NS) >= len(b) {
			t.Fatalf("%d samples from %d bytes", len(s.NS), len(b))
		}
	})
}

func FuzzUnpack(f *testing.F) {
	w := create(f, 1, 1)
	must(f, w.Close())
	b, err := os.ReadFile(w.Dir + "/" + SamplesName(runID(0), 1))
	must(f, err)
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = unpack(b) }) // must not panic nor take more memory than its limit
}
