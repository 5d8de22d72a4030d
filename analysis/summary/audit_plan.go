package summary

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"transportbench/artifacts"
)

// AuditPlan holds the journal against plan.tsv and the manifest's totals.
func AuditPlan(into *Audit, art *artifacts.Artifact) error {
	auditTotals(into, art)
	auditOrder(into, art)
	b, err := os.ReadFile(filepath.Join(art.Dir, artifacts.PlanFile))
	if err != nil {
		return fmt.Errorf("artifact: %w", err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) > 2 {
			rows[f[2]] = f[3:]
		}
	}
	for i := range art.Records {
		r := &art.Records[i]
		want, got := rows[r.RunID], planned(r)
		if len(want) > len(got) { // a plan in which some link has further impairments
			got = append(got, r.Profile.Link.More.String())
		}
		into.Check(strings.Join(want, " ") == strings.Join(got, " "), "plan-settings", runPath(r), strings.Join(want, " "), strings.Join(got, " "))
		id := fmt.Sprintf("%s/%s/r%d", r.Profile.ID, r.Variant.Name, r.Repetition)
		into.Check(id == r.RunID, "run-id", runPath(r), r.RunID, id)
	}
	return nil
}

// planned renders a record's settings as the columns of plan.tsv after the run id.
func planned(r *artifacts.Record) []string {
	p, v := r.Profile, r.Variant
	gso := "off"
	if v.GSO == "on" || v.GSO == "lossless" && p.Link.Clean() {
		gso = "on"
	}
	n := strconv.Itoa
	ns := func(d time.Duration) string { return strconv.FormatInt(int64(d), 10) }
	return []string{
		p.Suite, n(p.PayloadBytes), n(p.Connections), n(p.Messages), n(p.Warmup), n(p.Samples), n(p.Window), n(p.Link.LossPPM), ns(p.Link.DelayNS),
		p.Link.Backend, ns(v.RTOMinNS), v.Driver, v.API, v.Policy, n(v.MTU[p.Suite]), gso, n(p.Listeners),
	}
}

func auditTotals(into *Audit, art *artifacts.Artifact) {
	m := art.Manifest
	ok, failed, unsupported, notRun := art.Count()
	for _, c := range []struct {
		name      string
		want, got int
	}{{"planned", len(art.Plan), m.Planned}, {"ok", ok, m.OK}, {"failed", failed, m.Failed}, {"unsupported", unsupported, m.Unsupported}, {"not_run", notRun, m.NotRun}} {
		into.Check(c.want == c.got, "manifest-counts", artifacts.ManifestFile+":"+c.name, fmt.Sprint(c.want), fmt.Sprint(c.got))
	}
	if art.Sealed {
		into.Check(notRun == 0, "run-missing", artifacts.JournalFile, "a line for every planned run of a sealed artifact", fmt.Sprintf("%d without", notRun))
	}
}

// clockStep is how far the wall clock may be set back between two runs without a note.
const clockStep = time.Second

// auditOrder: first attempts stand in plan order. That no attempt starts before the one before it ended is only noted: clocks are set.
func auditOrder(into *Audit, art *artifacts.Artifact) {
	last := -1
	var end time.Time
	for i := range art.Records {
		r := &art.Records[i]
		if r.Attempt == 1 {
			into.Check(r.Index > last, "run-order", runPath(r), fmt.Sprintf("an index above %d, as planned", last), fmt.Sprint(r.Index))
			last = max(last, r.Index)
		}
		into.Note(!r.Started.Add(clockStep).Before(end), "run-times", runPath(r), "a start after "+end.Format(time.RFC3339Nano)+", the end of the run before", r.Started.Format(time.RFC3339Nano))
		end = r.Started.Add(time.Duration(r.WallNS))
	}
}
