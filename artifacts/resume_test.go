package artifacts

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// copyDir makes the copy on which a test tears a journal.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(tempDir(t), "copy")
	must(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

func TestResumeAfterATearAtEveryByte(t *testing.T) {
	w := create(t, 3, 3)
	must(t, w.Close())
	whole := read(t, w.Dir, JournalFile)
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	dir := copyDir(t, w.Dir)
	for cut := last; cut < len(whole); cut++ {
		write(t, dir, JournalFile, whole[:cut])
		resumeTorn(t, dir, whole[last:cut], runID(2))
		must(t, os.RemoveAll(dir))
		must(t, os.CopyFS(dir, os.DirFS(w.Dir)))
	}
}

func resumeTorn(t *testing.T, dir string, tail []byte, lost string) {
	t.Helper()
	if _, err := Load(dir); len(tail) > 0 && !errors.Is(err, ErrMalf) {
		t.Fatalf("load of a torn journal: %v, want ErrMalf", err)
	}
	r, err := OpenResume(dir)
	must(t, err)
	if len(r.Found.Records) != 2 || r.Resume.Interrupted != lost {
		t.Fatalf("%d records, interrupted %q", len(r.Found.Records), r.Resume.Interrupted)
	}
	if (r.Resume.Torn != "") != (len(tail) > 0) || r.Resume.Torn != "" && !bytes.Equal(read(t, dir, r.Resume.Torn), tail) {
		t.Fatalf("torn tail of %d bytes kept in %q", len(tail), r.Resume.Torn)
	}
	if len(r.Resume.Orphans) != 2 {
		t.Fatalf("samples and log of the lost attempt: %v", r.Resume.Orphans)
	}
	must(t, r.AppendResume(&r.Resume))
	again := record(2, 1, 2, 3)
	add(t, r.Writer, again)
	must(t, r.Append(again))
	must(t, r.Seal(r.Manifest()))
	must(t, r.Close())
	a, err := Load(dir)
	must(t, err)
	if len(a.Last()) != 3 || len(a.Resumes) != 1 {
		t.Fatalf("%d runs, %d resumes", len(a.Last()), len(a.Resumes))
	}
	if rep, err := Verify(dir); err != nil || len(rep.Findings) > 0 {
		t.Fatalf("verify: %v %v", rep.Findings, err)
	}
}

func TestResumeTakesAHoleBeforeTheLastNewlineForATear(t *testing.T) {
	w := create(t, 2, 2)
	must(t, w.Close())
	b := read(t, w.Dir, JournalFile)
	for i := len(b) - 50; i < len(b)-1; i++ {
		b[i] = 0
	}
	write(t, w.Dir, JournalFile, b)
	r, err := OpenResume(w.Dir)
	must(t, err)
	if len(r.Found.Records) != 1 || r.Resume.Torn == "" {
		t.Fatalf("%d records, torn %q", len(r.Found.Records), r.Resume.Torn)
	}
	must(t, r.Close())
}

func TestResumeLiftsTheSealAndKeepsIt(t *testing.T) {
	dir := sealed(t, 2)
	sums := read(t, dir, SumsFile)
	r, err := OpenResume(dir)
	must(t, err)
	if !slices.Equal(read(t, dir, r.Resume.Unsealed), sums) || r.Resume.Interrupted != "" {
		t.Fatalf("resume %+v", r.Resume)
	}
	must(t, r.AppendResume(&r.Resume))
	second := record(1, 2, 2, 3)
	must(t, r.Append(second))
	must(t, r.Seal(r.Manifest()))
	must(t, r.Close())
	a, err := Load(dir)
	must(t, err)
	if last := a.Last(); last[1].Attempt != 2 || len(a.Records) != 3 {
		t.Fatalf("last attempt %d of %d records", last[1].Attempt, len(a.Records))
	}
}

func TestResumeRefusesAChangedJournal(t *testing.T) {
	w := create(t, 3, 3)
	must(t, w.Close())
	b := read(t, w.Dir, JournalFile)
	i := bytes.Index(b, []byte("200000"))
	b[i] = '3'
	write(t, w.Dir, JournalFile, b)
	_, err := OpenResume(w.Dir)
	var e *Error
	if !errors.Is(err, ErrChain) || !errors.As(err, &e) || e.File != JournalFile || e.Line != 2 {
		t.Fatalf("%v, want ErrChain at runs.ndjson:2", err)
	}
}

func TestResumeRefusesALivingWriter(t *testing.T) {
	w := create(t, 2, 1)
	if _, err := OpenResume(w.Dir); !errors.Is(err, ErrInUse) {
		t.Fatalf("%v, want ErrInUse", err)
	}
	must(t, w.Close())
	r, err := OpenResume(w.Dir)
	must(t, err)
	must(t, r.Close())
}

func TestResumeAfterACrashWhileSealing(t *testing.T) {
	w := create(t, 2, 2)
	m := w.Manifest()
	m.OK = 2
	must(t, w.SetManifest(m))
	must(t, w.Close())
	for _, part := range []string{SumsFile, ManifestFile} {
		write(t, w.Dir, scratchDir+"/"+part, []byte("half a fi"))
	}
	r, err := OpenResume(w.Dir)
	must(t, err)
	must(t, r.AppendResume(&r.Resume))
	must(t, r.Seal(r.Manifest()))
	must(t, r.Close())
	if rep, err := Verify(w.Dir); err != nil || len(rep.Findings) > 0 {
		t.Fatalf("verify: %v %v", rep.Findings, err)
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, scratchDir)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("scratch folder is left: %v", err)
	}
}
