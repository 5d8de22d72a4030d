package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/artifacts/anchor/anchortest"
)

const alone = "asserted by the producer only"

// anchored is an honest artifact with tables and report whose journal an authority stamped after the last run.
func anchored(t *testing.T, tsa *anchortest.Authority) string {
	t.Helper()
	dir := honest(t)
	_, err := writeReport(dir, false)
	must(t, err)
	for _, name := range []string{"report.html", "tables/results.md"} {
		if b := readIn(t, dir, name); !strings.Contains(b, "completeness of the runs are "+alone) {
			t.Fatalf("%s does not say that nobody vouches for it", name)
		}
	}
	_, err = anchorJournal(context.Background(), dir, tsa.URL)
	must(t, err)
	return dir
}

func readIn(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return string(b)
}

// findings returns the rules that an audit with these authorities finds broken, and those that it notes.
func findings(t *testing.T, dir, ca string) (broken, notes []string) {
	t.Helper()
	roots, err := authorities(ca)
	must(t, err)
	v, err := verifyTrusting(dir, roots)
	must(t, err)
	for _, f := range v.Findings {
		if f.Level == summary.LevelFail {
			broken = append(broken, f.Rule)
		} else {
			notes = append(notes, f.Rule)
		}
	}
	return broken, notes
}

func TestAnchoredJournal(t *testing.T) {
	tsa := anchortest.New(t)
	dir := anchored(t, tsa)
	for _, name := range []string{"report.html", "tables/results.md"} {
		if b := readIn(t, dir, name); !strings.Contains(b, "time-stamped the journal after the last run") {
			t.Errorf("%s does not say who vouches for what", name)
		}
	}
	if broken, notes := findings(t, dir, tsa.CAFile); len(broken) > 0 || !slices.Contains(notes, "anchor-extent") {
		t.Errorf("broken %v, notes %v: want the missing time-stamp of the plan noted", broken, notes)
	}
	if broken, _ := findings(t, dir, anchortest.New(t).CAFile); !slices.Equal(broken, []string{"anchor-authority"}) {
		t.Errorf("another authority: broken %v", broken)
	}
	if broken, _ := findings(t, dir, ""); len(broken) > 0 {
		t.Errorf("no authority: broken %v", broken)
	}
	if _, err := anchorJournal(context.Background(), dir, tsa.URL); err == nil || !strings.Contains(err.Error(), "anchored already") {
		t.Errorf("%v, want a refusal to anchor twice", err)
	}
}

// An artifact that is rewritten after its time-stamp cannot keep it, however well everything else is made to fit.
func TestAnchorFindsWhatTheSealCannot(t *testing.T) {
	tsa := anchortest.New(t)
	for what, change := range map[string]func(*forger){
		"another last run": func(f *forger) { f.number(len(f.lines)-1, `"wall_ns":`, 1) },
		"another token":    func(f *forger) { f.after = func() { f.write(stampName(t, f.dir), "hello") } },
		"line from nowhere": func(f *forger) {
			f.after = func() {
				must(t, os.Rename(filepath.Join(f.dir, stampName(t, f.dir)), filepath.Join(f.dir, artifacts.JournalAnchor(9999))))
			}
		},
	} {
		dir := anchored(t, tsa)
		f := openForger(t, dir)
		change(f)
		f.close()
		if broken, _ := findings(t, dir, tsa.CAFile); !slices.Contains(broken, "anchor") {
			t.Errorf("%s: broken %v, want anchor", what, broken)
		}
	}
	dir := anchored(t, tsa)
	must(t, os.WriteFile(filepath.Join(dir, artifacts.AnchorsDir, "notes.txt"), nil, 0o644))
	if broken, _ := findings(t, dir, tsa.CAFile); !slices.Contains(broken, "seal") {
		t.Errorf("stranger in anchors/: broken %v, want seal", broken)
	}
}

func stampName(t *testing.T, dir string) string {
	t.Helper()
	a, err := artifacts.Load(dir)
	if err != nil || len(a.Stamped) != 1 {
		t.Fatalf("%v, want one stamped line", err)
	}
	return artifacts.JournalAnchor(a.Stamped[0])
}

// A time-stamp from before the runs that it is about is noted: a clock is wrong, or the runs are not what they say.
func TestAnchorTimes(t *testing.T) {
	tsa := anchortest.New(t)
	tsa.Now = func() time.Time { return time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC) }
	dir := anchored(t, tsa)
	if broken, notes := findings(t, dir, tsa.CAFile); len(broken) > 0 || !slices.Contains(notes, "anchor-times") {
		t.Errorf("broken %v, notes %v, want anchor-times", broken, notes)
	}
}

func TestAnchorErrors(t *testing.T) {
	dir := honest(t)
	for _, c := range [][]string{
		{"anchor", dir, "--tsa", "http://127.0.0.1:1/tsr"}, {"anchor", dir}, {"anchor", filepath.Join(dir, "nothing"), "--tsa", "http://x"},
		{"verify", dir, "--tsa-ca", filepath.Join(dir, "nothing.pem")}, {"verify", dir, "--tsa-ca", filepath.Join(dir, "manifest.json")},
	} {
		var stderr bytes.Buffer
		if code := Main(c, strings.NewReader(""), io.Discard, &stderr); code == ExitOK || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %q", c, code, &stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, artifacts.AnchorsDir)); err == nil {
		t.Error("a failed anchor left its folder")
	}
}
