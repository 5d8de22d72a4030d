package cli

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/artifacts/anchor"
	"transportbench/artifacts/oci"
)

// clockSlack is how far this machine's clock and the authority's may differ before a note says so.
const clockSlack = 5 * time.Minute

// producerOnly is what an artifact without time-stamps of others must be told by.
const producerOnly = "no time-stamp is here: that these are all runs and in this order is asserted by their producer only; see bench anchor"

func addTSACA(fs *pflag.FlagSet, file *string) {
	fs.StringVar(file, "tsa-ca", "", "`file` with the certificates (PEM) of the time-stamping authorities that you trust")
}

func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	roots, err := anchor.Roots(file)
	return roots, fail(ExitUsage, err)
}

// auditAnchors checks the time-stamps in anchors/: what each is about, that it is signed, with roots by whom, and that the plan's came
// before the first run and the journal's after the line that it is about.
func auditAnchors(into *summary.Audit, a *artifacts.Artifact, roots *x509.CertPool) {
	if len(a.Anchors) == 0 && len(a.Stamped) == 0 {
		into.Skip("anchor", producerOnly)
		return
	}
	if roots == nil {
		into.Skip("anchor-authority", "no authority is trusted; name its certificate with --tsa-ca")
	}
	for _, line := range a.Anchors {
		auditPlanAnchor(into, a, line, roots)
	}
	for _, n := range a.Stamped {
		hash, err := a.LineHash(n)
		if err != nil {
			into.Check(false, "anchor", artifacts.JournalAnchor(n), "a time-stamp of a line that exists", oneLine(err.Error()))
			continue
		}
		if t := auditToken(into, a.Dir, artifacts.JournalAnchor(n), hash, roots); t != nil {
			auditAfter(into, a, n, t.Time)
		}
	}
	auditExtent(into, a)
}

// auditPlanAnchor wants the line to be the journal's first, about this plan and this file, and the time before the first run.
func auditPlanAnchor(into *summary.Audit, a *artifacts.Artifact, line artifacts.Anchor, roots *x509.CertPool) {
	path := artifacts.JournalFile + ":anchor"
	first, err := a.LineHash(1)
	into.Check(err == nil && len(a.Anchors) == 1 && line.Prev == genesisHash && first != "", "anchor", path, "the first line of the journal", "another line")
	into.Check(line.PlanHash == a.Manifest.PlanHash, "anchor", path, a.Manifest.PlanHash, line.PlanHash)
	if line.Pushed != "" {
		_, err := oci.ParseRef(line.Pushed)
		into.Check(err == nil && strings.Contains(line.Pushed, "@sha256:"), "anchor", path, "a reference with a digest", line.Pushed)
		into.Skip("anchor-pushed", "the plan was pushed as "+oneLine(line.Pushed)+"; ask that registry when it arrived")
	}
	if line.File == "" {
		into.Check(line.Pushed != "", "anchor", path, "a time-stamp or a reference", "neither")
		return
	}
	into.Check(line.File == artifacts.PlanAnchor, "anchor", path, artifacts.PlanAnchor, line.File)
	answer, err := artifacts.ReadAnchor(a.Dir, artifacts.PlanAnchor)
	if err != nil {
		into.Check(false, "anchor", artifacts.PlanAnchor, "the time-stamp that the journal names", oneLine(err.Error()))
		return
	}
	got := fmt.Sprintf("%x", sha256.Sum256(answer))
	into.Check(got == line.SHA256, "anchor", artifacts.PlanAnchor, line.SHA256, got)
	t := auditToken(into, a.Dir, artifacts.PlanAnchor, a.Manifest.PlanHash, roots)
	if t == nil {
		return
	}
	into.Check(t.Time.Equal(line.Time), "anchor", path, t.Time.Format(time.RFC3339), line.Time.Format(time.RFC3339))
	if len(a.Records) > 0 {
		start := a.Records[0].Started
		into.Note(t.Time.Before(start.Add(clockSlack)), "anchor-times", artifacts.PlanAnchor, "before the first run, which began "+start.UTC().Format(time.RFC3339), t.Time.Format(time.RFC3339))
		into.Note(start.Sub(t.Time) < time.Hour, "anchor-times", artifacts.PlanAnchor, "within an hour before the first run", t.Time.Format(time.RFC3339)+": other runs may have been made and left out in between")
	}
}

// genesisHash stands for the line before the first.
const genesisHash = "0000000000000000000000000000000000000000000000000000000000000000"

// auditToken reads a time-stamp of hash; nil when it is none.
func auditToken(into *summary.Audit, dir, name, hash string, roots *x509.CertPool) *anchor.Token {
	answer, err := artifacts.ReadAnchor(dir, name)
	var t *anchor.Token
	if err == nil {
		t, err = anchor.Read(answer, hash)
	}
	if err != nil {
		into.Check(false, "anchor", name, "an RFC 3161 time-stamp of "+hash, oneLine(err.Error()))
		return nil
	}
	into.Check(true, "anchor", name, "", "")
	if roots != nil {
		err := t.Trusted(roots)
		into.Check(err == nil, "anchor-authority", name, "an authority of --tsa-ca", fmt.Sprintf("%q: %v", t.Authority, err))
	}
	return t
}

// auditAfter notes a time-stamp of a journal line that is older than the runs up to that line.
func auditAfter(into *summary.Audit, a *artifacts.Artifact, line int, at time.Time) {
	if line != a.Lines || len(a.Records) == 0 {
		return
	}
	last := a.Records[len(a.Records)-1]
	end := last.Started.Add(time.Duration(last.WallNS))
	into.Note(at.After(end.Add(-clockSlack)), "anchor-times", artifacts.JournalAnchor(line), "after the last run, which ended "+end.UTC().Format(time.RFC3339), at.Format(time.RFC3339))
}

// auditExtent notes which end of the measurement nobody else vouches for.
func auditExtent(into *summary.Audit, a *artifacts.Artifact) {
	into.Note(len(a.Anchors) > 0, "anchor-extent", artifacts.AnchorsDir, "a time-stamp of the plan before the first run", "none: what ran before is asserted by the producer only")
	n := len(a.Stamped)
	into.Note(n > 0 && a.Stamped[n-1] == a.Lines, "anchor-extent", artifacts.AnchorsDir, "a time-stamp of the journal's last line", "none: what was written after the last time-stamp is asserted by the producer only")
}
