package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"transportbench/analysis/stats"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// referenceLink is the backend whose results count as reference.
const referenceLink = "netem"

// headView is the first screen: what this is, how it ended, and what to be careful about.
type headView struct {
	Facts    []entry
	Counts   []countView
	Warnings []warning
	Support  []string
}

type countView struct{ Name, Count, Class string }

// warning is a sentence and the lines behind it.
type warning struct {
	Text  string
	Lines []string
}

// Title says in one line what a reader must know before the first number.
func Title(m artifacts.Manifest) string {
	if m.FunctionalOnly() {
		return fmt.Sprintf("%s (%s, runtime %s, functional only: software emulation, no number is a measurement)", m.ID, m.Kind, m.Runtime)
	}
	title := fmt.Sprintf("%s (%s, runtime %s, placement: %s)", m.ID, m.Kind, m.Runtime, m.Placement.Label)
	if m.Replicates != nil {
		title += ", replicates " + m.Replicates.ID
	}
	return title
}

func (b *builder) head() headView {
	t := b.in.Summary.Totals()
	return headView{
		Facts: b.headFacts(), Warnings: b.warnings(), Support: support(b.in.Summary),
		Counts: []countView{
			{"planned", thousands(t.Planned), ""}, {"ok", thousands(t.OK), "ok"}, {"failed", thousands(t.Failed), bad(t.Failed)},
			{"unsupported", thousands(t.Unsupported), bad(t.Unsupported)}, {"not run", thousands(t.NotRun), bad(t.NotRun)},
		},
	}
}

func bad(n int) string {
	if n > 0 {
		return "bad"
	}
	return ""
}

func (b *builder) headFacts() []entry {
	m := b.in.Artifact.Manifest
	finished := "not finished"
	if m.Finished != nil {
		finished = m.Finished.UTC().Format(time.RFC3339)
	}
	commit := orUnknown(m.Code.Commit)
	if m.Code.Dirty {
		commit += ", with uncommitted changes"
	}
	machine := flatten(m.MeasuredOn)
	return []entry{
		{"Matrix", m.Matrix.Name + " (" + m.Kind + ")"},
		{"Selection", orUnknown(strings.Join(m.Options, " "))},
		{"Placement", orUnknown(m.Placement.Label)},
		{"Runtime", orUnknown(m.Runtime)},
		{"Link backends", backends(m.LinkBackends)},
		{"Machine", join(", ", orUnknown(m.HostLabel), machine.get("cpu.model"), machine.get("cpu.online")+" CPUs online", machine.get("hypervisor"))},
		{"Kernel", machine.get("kernel")},
		{"Measured", m.Started.UTC().Format(time.RFC3339) + " to " + finished},
		{"Source", commit},
		{"Plan", orUnknown(m.PlanHash)},
	}
}

func backends(byProfile map[string]string) string {
	count := map[string]int{}
	for _, b := range byProfile {
		count[b]++
	}
	var parts []string
	for _, b := range sortedKeys(count) {
		parts = append(parts, fmt.Sprintf("%s for %d profiles", b, count[b]))
	}
	return orUnknown(strings.Join(parts, ", "))
}

// support says what the numbers of runs can tell.
func support(s *summary.Summary) []string {
	var out []string
	for _, n := range s.RunCounts() {
		if n < 2 {
			out = append(out, "n=1: one run has no range; nothing can be said about the next one.")
			continue
		}
		out = append(out, fmt.Sprintf("n=%d: the range covers the true median with probability %.1f %%; one more run falls outside it with probability %.0f %%.",
			n, 100*stats.MedianCoverage(n), 100*stats.OutsideChance(n)))
	}
	return append(out, vouched(s))
}

// vouched says who says that these are all runs and in this order. Whether a time-stamp is worth anything is for bench verify to say.
func vouched(s *summary.Summary) string {
	const check = " See bench verify --tsa-ca."
	if s.PlanPushed && !s.PlanStamped {
		after := "what came after it is asserted by the producer only."
		if s.JournalStamped {
			after = "an authority time-stamped the journal after the last one (anchors/)." + check
		}
		return "Order and completeness of the runs: the plan was pushed to a registry before the first run (runs.ndjson, first line), which can say when; " + after
	}
	switch {
	case s.PlanStamped && s.JournalStamped:
		return "Order and completeness of the runs: an authority time-stamped the plan before the first run and the journal after the last one (anchors/)." + check
	case s.PlanStamped:
		return "Order and completeness of the runs: an authority time-stamped the plan before the first run (anchors/); what came after it is asserted by the producer only." + check
	case s.JournalStamped:
		return "Order and completeness of the runs: an authority time-stamped the journal after the last run (anchors/); what came before is asserted by the producer only." + check
	}
	return "Order and completeness of the runs are asserted by the producer only: nobody else time-stamped the plan or the journal."
}

func (b *builder) warnings() []warning {
	m := b.in.Artifact.Manifest
	var out []warning
	add := func(when bool, text string, lines ...string) {
		if when {
			out = append(out, warning{text, lines})
		}
	}
	add(m.Placement.Label == "reduced", "Placement is reduced: client and server share CPUs or have fewer than the reference. Only orders can be compared with other machines.")
	add(m.Kind != "published" && m.Kind != "reference", kindWarning(m.Kind))
	add(m.Code.Commit == "", "The commit of the source is unknown.")
	add(m.Code.Dirty, "The source had uncommitted changes.")
	other := b.otherBackends()
	add(len(other) > 0, "Not every profile used the reference link (netem). Runs under different backends are not compared as like with like.", other...)
	add(m.Shared, "Another benchmark was allowed to run at the same time.")
	add(len(m.Pins.Drift) > 0, "Some parts are not the pinned ones.", m.Pins.Drift...)
	add(!b.in.Artifact.Sealed, "The artifact is not sealed: it may be unfinished or changed.")
	add(m.Network.Equal != nil && !*m.Network.Equal, "The host's own network changed during the measurement.")
	add(m.Amends != nil, "This artifact repeats one block of another one.")
	add(len(b.in.Artifact.Resumes) > 0, fmt.Sprintf("The measurement was interrupted and resumed %d times.", len(b.in.Artifact.Resumes)))
	t := b.in.Summary.Totals()
	add(t.Failed+t.NotRun > 0, fmt.Sprintf("%d planned runs failed and %d did not run; they have no number and are listed with their reasons.", t.Failed, t.NotRun))
	for _, v := range b.in.Summary.Variants {
		add(b.void(v) != "", "Column "+v+" is void: "+b.void(v)+".")
	}
	if ns := b.in.Summary.RunCounts(); len(ns) > 0 && ns[0] < 6 {
		add(true, "Some cells have fewer than six runs: ranges are shown, intervals rest on a model, and nothing is called faster without one.")
	}
	return out
}

func kindWarning(kind string) string {
	switch kind {
	case "smoke":
		return "Kind smoke: bursts or connections were scaled down. It shows that everything works, not how fast it is."
	case "quick":
		return "Kind quick: a first look with small counts and few runs."
	}
	return "Kind " + kind + ": not the published plan; only equal cells and counts can be compared with it."
}

func (b *builder) otherBackends() []string {
	by := b.in.Artifact.Manifest.LinkBackends
	var out []string
	for _, p := range sortedKeys(by) {
		if by[p] != referenceLink {
			out = append(out, p+": "+by[p])
		}
	}
	return out
}

// void says why a column's numbers must not be used: more than 1 % of its runs failed.
func (b *builder) void(variant string) string {
	failed, all := 0, 0
	for _, c := range b.in.Summary.Cells {
		if st := b.in.Summary.Status[c]; c.Variant == variant {
			failed, all = failed+st.Failed, all+st.Failed+st.OK+st.Unsupported
		}
	}
	if failed*100 <= all {
		return ""
	}
	return fmt.Sprintf("%d of %d runs failed, more than 1 %%", failed, all)
}

// suiteNotes are what must stand beside the numbers of a suite.
func (b *builder) suiteNotes(suite string, profiles []string) []string {
	notes := []string{suiteNote(suite)}
	lossy := slices.ContainsFunc(profiles, func(id string) bool { return b.in.Summary.Profiles[id].Link.Lossy() })
	if lossy {
		notes = append(notes, "Loss is independent per packet and direction. RakNet, KCP and raw UDP have fixed windows and no congestion control: they do not yield to other traffic, and what that costs others is not measured. TCP's collapse at high loss is its minimum retransmission timeout of 200 ms on a path of microseconds.")
	}
	if slices.ContainsFunc(b.in.Summary.Variants, func(v string) bool { return strings.Contains(v, "batch") }) {
		notes = append(notes, "A batch column submits up to 16 ready messages in one call and never waits; compare it with other batch columns only.")
	}
	return notes
}

func cellOf(runID string) (matrix.Cell, bool) {
	part := strings.Split(runID, "/")
	if len(part) != 3 {
		return matrix.Cell{}, false
	}
	return matrix.Cell{Profile: part[0], Variant: part[1]}, true
}
