package artifacts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func stamp() Stamp { return Stamp{Answer: []byte("signed"), Authority: "CN=somebody", Time: day} }

// The plan's time-stamp is the journal's first line and sealed; the journal's is added afterwards and breaks no seal.
func TestAnchors(t *testing.T) {
	w := create(t, 1, 0)
	must(t, w.AppendAnchor(stamp()))
	must(t, w.Append(record(0, 1, 1, 3)))
	if err := w.AppendAnchor(stamp()); err == nil || !strings.Contains(err.Error(), "before the first line") {
		t.Errorf("%v, want a second anchor to be refused", err)
	}
	must(t, w.Seal(w.Manifest()))
	must(t, w.Close())
	name, err := AddJournalAnchor(w.Dir, 2, stamp())
	must(t, err)
	if _, err := AddJournalAnchor(w.Dir, 2, stamp()); !errors.Is(err, ErrExists) {
		t.Errorf("%v, want what is there to stay", err)
	}
	rep, err := Verify(w.Dir)
	if err != nil || len(rep.Findings) > 0 || name != "anchors/journal-2.tsr" {
		t.Fatalf("%s: %v %v", name, rep.Findings, err)
	}
	a, err := Load(w.Dir)
	must(t, err)
	if len(a.Anchors) != 1 || a.Anchors[0].SHA256 != hashOf([]byte("signed")) || a.Anchors[0].PlanHash != "p" || len(a.Stamped) != 1 || a.Stamped[0] != 2 {
		t.Errorf("%+v, stamped %v", a.Anchors, a.Stamped)
	}
	for line, want := range map[int]bool{0: false, 1: true, 2: true, 3: false} {
		if h, err := a.LineHash(line); (err == nil) != want || line == 2 && h != a.Head {
			t.Errorf("line %d: %q %v", line, h, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(w.Dir, PlanAnchor), []byte("other"), 0o644))
	if rep, err := Verify(w.Dir); err != nil || len(rep.Findings) != 1 || !errors.Is(rep.Findings[0], ErrTampered) {
		t.Errorf("%v %v, want the plan's time-stamp to be sealed", rep.Findings, err)
	}
}

func TestAnchoredLine(t *testing.T) {
	for name, want := range map[string]int{
		"anchors/journal-1.tsr": 1, "anchors/journal-120.tsr": 120, "anchors/journal-0.tsr": 0, "anchors/journal-01.tsr": 0, "anchors/journal--1.tsr": 0,
		"anchors/journal-.tsr": 0, "anchors/plan.tsr": 0, "anchors/journal-1": 0, "logs/journal-1.tsr": 0, "journal-1.tsr": 0, "anchors/journal-1.tsr.tsr": 0,
	} {
		if got := anchoredLine(name); got != want {
			t.Errorf("%s: line %d, want %d", name, got, want)
		}
	}
}
