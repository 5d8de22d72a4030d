package artifacts

import (
	"errors"
	"os"
	"slices"
	"testing"
)

func TestCreateNeverOverwrites(t *testing.T) {
	w := create(t, 2, 1)
	before := read(t, w.Dir, JournalFile)
	if _, err := Create(w.Dir, manifest(2), planTSV(2)); !errors.Is(err, ErrExists) {
		t.Fatalf("second create: %v, want ErrExists", err)
	}
	if !slices.Equal(before, read(t, w.Dir, JournalFile)) {
		t.Fatal("journal changed")
	}
	if _, err := w.Samples(SamplesName(runID(0), 1), nil); !errors.Is(err, ErrExists) {
		t.Fatalf("samples written twice: %v, want ErrExists", err)
	}
	if _, err := w.Log(LogName(runID(0), 1, "client"), []byte("x")); !errors.Is(err, ErrExists) {
		t.Fatalf("log written twice: %v, want ErrExists", err)
	}
}

func TestSealedArtifactIsIntactAndReadable(t *testing.T) {
	dir := sealed(t, 3)
	rep, err := Verify(dir)
	must(t, err)
	if len(rep.Findings) != 0 || len(rep.Absent) != 0 || rep.Checked != 3+3+3 {
		t.Fatalf("verify: %+v", rep)
	}
	a, err := Load(dir)
	must(t, err)
	if !a.Sealed || len(a.Records) != 3 || a.Records[2].Series[0].Quantiles[2] != 10_200 {
		t.Fatalf("load: sealed %v, %d records", a.Sealed, len(a.Records))
	}
	s, err := ReadSamples(dir, a.Records[1].Series[0].File)
	must(t, err)
	if !slices.Equal(s.NS, []int64{10, 20, 30}) {
		t.Fatalf("samples %v", s.NS)
	}
}

func TestHeavyFilesMayBeAbsent(t *testing.T) {
	dir := sealed(t, 2)
	must(t, os.RemoveAll(dir+"/samples"))
	rep, err := Verify(dir)
	must(t, err)
	if len(rep.Findings) != 0 || len(rep.Absent) != 2 {
		t.Fatalf("verify without samples: %+v", rep)
	}
}

func TestAnyChangedByteIsFound(t *testing.T) {
	dir := sealed(t, 2)
	for name, step := range map[string]int{ // every byte of the file that vouches for the others
		SumsFile: 1, ManifestFile: 19, PlanFile: 7, JournalFile: 19, SamplesName(runID(0), 1): 5, LogName(runID(1), 1, "client"): 1,
	} {
		good := read(t, dir, name)
		for i := 0; i < len(good); i += step {
			bad := slices.Clone(good)
			bad[i] ^= 1 << (i % 8)
			write(t, dir, name, bad)
			if rep, err := Verify(dir); err == nil && len(rep.Findings) == 0 {
				t.Fatalf("%s: changed byte %d of %d was not found", name, i, len(good))
			}
		}
		write(t, dir, name, good)
	}
	for _, extra := range []string{"runs2.ndjson", "samples/x.rtt.zst"} {
		write(t, dir, extra, []byte("x"))
		if rep, err := Verify(dir); err != nil || len(rep.Findings) != 1 {
			t.Fatalf("added %s: %v %v", extra, rep.Findings, err)
		}
		must(t, os.Remove(dir+"/"+extra))
	}
	write(t, dir, "summary.tsv", []byte("derived"))
	if rep, err := Verify(dir); err != nil || len(rep.Findings) != 0 {
		t.Fatalf("a derived file is no finding: %v %v", rep.Findings, err)
	}
}

func TestSealIsFinal(t *testing.T) {
	w := create(t, 1, 1)
	must(t, w.Seal(w.Manifest()))
	if err := w.SetManifest(w.Manifest()); !errors.Is(err, ErrSealed) {
		t.Fatalf("manifest after seal: %v, want ErrSealed", err)
	}
}
