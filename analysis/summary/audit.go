package summary

import (
	"cmp"
	"slices"

	"transportbench/artifacts"
)

// Levels of a finding.
const (
	LevelFail = "fail" // cannot be true of an honest measurement, or the numbers may not be used
	LevelNote = "note" // possible, and a reader must know it
)

// Finding is one thing that a rule did not find as it should be.
type Finding struct {
	Rule     string `json:"rule"`
	Level    string `json:"level"`
	Path     string `json:"path"` // file, and the run, cell or column inside
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// Audit collects findings and counts what each rule looked at: a rule that looked at nothing has said nothing.
type Audit struct {
	Findings []Finding         `json:"findings"`
	Checked  map[string]int    `json:"checked"`           // by rule
	Skipped  map[string]string `json:"skipped,omitempty"` // rules that could not be applied, and why
}

// NewAudit returns an audit that has looked at nothing yet.
func NewAudit() *Audit {
	return &Audit{Findings: []Finding{}, Checked: map[string]int{}, Skipped: map[string]string{}}
}

// Check counts one look of a rule and files a failure unless ok.
func (a *Audit) Check(ok bool, rule, path, expected, found string) {
	a.file(ok, Finding{rule, LevelFail, path, expected, found})
}

// Note is Check for what an honest measurement may show and a reader must know.
func (a *Audit) Note(ok bool, rule, path, expected, found string) {
	a.file(ok, Finding{rule, LevelNote, path, expected, found})
}

func (a *Audit) file(ok bool, f Finding) {
	a.Checked[f.Rule]++
	if !ok {
		a.Findings = append(a.Findings, f)
	}
}

// Skip says why a rule could not be applied.
func (a *Audit) Skip(rule, why string) { a.Skipped[rule] = why }

// join adds what another audit looked at and found.
func (a *Audit) join(b *Audit) {
	a.Findings = append(a.Findings, b.Findings...)
	for rule, n := range b.Checked {
		a.Checked[rule] += n
	}
}

// Failures counts the findings that are more than notes.
func (a *Audit) Failures() int {
	n := 0
	for _, f := range a.Findings {
		if f.Level == LevelFail {
			n++
		}
	}
	return n
}

// Sort puts failures first, then rules and paths in order.
func (a *Audit) Sort() {
	slices.SortStableFunc(a.Findings, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Level, y.Level), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Path, y.Path))
	})
}

// AuditRuns applies every rule that needs only the journal: physics, counts and order within each successful attempt, then
// losses, datagram rates and failures over the whole artifact.
func AuditRuns(into *Audit, art *artifacts.Artifact) {
	for i := range art.Records {
		r := &art.Records[i]
		if r.Outcome != artifacts.OutcomeOK {
			continue
		}
		u := run{Audit: into, Record: r, path: runPath(r), lossy: r.Variant.Unreliable, floor: art.Manifest.RSS[r.Profile.Suite]}
		if d := art.Manifest.Drivers[r.Variant.Driver].Describe; d != nil && !d.Reliable {
			u.lossy = true
		}
		u.audit()
	}
	auditLosses(into, art)
	auditDatagrams(into, art)
	auditFailures(into, art)
}

// runPath names an attempt inside an artifact.
func runPath(r *artifacts.Record) string {
	return artifacts.JournalFile + ":" + artifacts.FileBase(r.RunID, r.Attempt)
}
