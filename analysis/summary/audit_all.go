package summary

import (
	"fmt"
	"slices"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// lossLevel is the family-wise level of the aggregate loss test: 99.9 %.
const lossLevel = 1e-3

// ledger is what one profile, column and direction saw and dropped over all its runs.
type ledger struct {
	path          string
	seen, dropped int64
	ppm           int
}

// auditLosses holds the injected drops of each profile, column and direction, summed over runs, against the binomial
// distribution. Holm's correction runs over exactly these tests. Links with further impairments are judged run by run only:
// their drops are not binomial.
func auditLosses(into *Audit, art *artifacts.Artifact) {
	var order []string
	sums := map[string]*ledger{}
	for _, r := range art.Last() {
		if r.Outcome != artifacts.OutcomeOK || r.Counters == nil || r.Profile.Link.LossPPM == 0 || r.Profile.Link.More != (matrix.Impairment{}) {
			continue
		}
		for _, d := range r.Counters.Directions {
			key := r.Profile.ID + "/" + r.Variant.Name + " " + d.Name
			if sums[key] == nil {
				sums[key] = &ledger{path: artifacts.JournalFile + ":" + key, ppm: r.Profile.Link.LossPPM}
				order = append(order, key)
			}
			sums[key].seen += d.Seen
			sums[key].dropped += d.Dropped
		}
	}
	chances := make([]float64, len(order))
	for i, key := range order {
		l := sums[key]
		chances[i] = stats.BinomialChance(l.seen, l.dropped, float64(l.ppm)/1e6)
	}
	for i, p := range stats.Holm(chances) {
		l := sums[order[i]]
		into.Check(p >= lossLevel, "loss-aggregate", l.path, fmt.Sprintf("%s of %d packets, chance at least %v over %d tests (Holm)",
			Format(float64(l.seen)*float64(l.ppm)/1e6), l.seen, lossLevel, len(order)), fmt.Sprintf("%d dropped, chance %s", l.dropped, Format(p)))
	}
	if len(order) == 0 {
		into.Skip("loss-aggregate", "no run with loss")
	}
}

// udpColumn is the reference of the machine: one datagram a message and no protocol.
const udpColumn = "udp"

// udpMargin is how much above it the datagram rate of another column may lie.
const udpMargin = 1.05

// rates are the datagram rates of one column at one profile.
type rates struct {
	perS   []float64
	steady bool // no run was disturbed
}

// minRunsBound is how many runs both columns need before the bound can fail.
const minRunsBound = 3

// auditDatagrams: no datagram protocol without segmentation offload sends more datagrams a second than raw UDP does at the same
// profile. Beyond every run of it is a failure where enough undisturbed runs say so; else a note, because the machine drifts.
func auditDatagrams(into *Audit, art *artifacts.Artifact) {
	cells := map[string]map[string]*rates{} // by profile and column
	for _, r := range art.Last() {
		d := art.Manifest.Drivers[r.Variant.Driver].Describe
		rate, ok := datagramRate(&r)
		if !ok || d == nil || d.Transport == "tcp" {
			continue
		}
		if cells[r.Profile.ID] == nil {
			cells[r.Profile.ID] = map[string]*rates{}
		}
		c := cells[r.Profile.ID][r.Variant.Name]
		if c == nil {
			c = &rates{steady: true}
			cells[r.Profile.ID][r.Variant.Name] = c
		}
		c.perS, c.steady = append(c.perS, rate), c.steady && !disturbed(r.Flags)
	}
	looked := 0
	for _, profile := range keys(cells) {
		udp := cells[profile][udpColumn]
		for _, column := range keys(cells[profile]) {
			if udp == nil || strings.HasPrefix(column, udpColumn) {
				continue
			}
			looked++
			boundDatagrams(into, artifacts.JournalFile+":"+profile+"/"+column, cells[profile][column], udp)
		}
	}
	if looked == 0 {
		into.Skip("udp-bound", "no profile has both the udp column and datagram counts of another")
	}
}

func boundDatagrams(into *Audit, path string, column, udp *rates) {
	least, limit := slices.Min(column.perS), udpMargin*slices.Max(udp.perS)
	expected := fmt.Sprintf("at most %s datagrams/s, %v x raw UDP's fastest of %d runs", Format(limit), udpMargin, len(udp.perS))
	found := fmt.Sprintf("%s in the slowest of %d runs", Format(least), len(column.perS))
	if len(column.perS) >= minRunsBound && len(udp.perS) >= minRunsBound && column.steady && udp.steady {
		into.Check(least <= limit, "udp-bound", path, expected, found)
		return
	}
	into.Note(least <= limit, "udp-bound", path, expected, found+" (too few or disturbed: the machine may have drifted)")
}

// datagramRate is the client's datagrams a second of burst; those of warmup and samples are taken out by their share of messages.
func datagramRate(r *artifacts.Record) (float64, bool) {
	res := r.Client.Result
	if r.Outcome != artifacts.OutcomeOK || res == nil || res.Datagrams == nil || res.ElapsedNS <= 0 || res.Verified+res.Lost <= 0 {
		return 0, false
	}
	for _, h := range []artifacts.Side{r.Client, r.Server} {
		if h.Hello == nil || h.Hello.Settings.GSO || h.Connected != nil && h.Connected.Settings != nil && h.Connected.Settings.GSO {
			return 0, false
		}
	}
	share := float64(res.Messages) / float64(res.Verified+res.Lost)
	return float64(*res.Datagrams) * share / (float64(res.ElapsedNS) / 1e9), true
}

// voidShare is the share of failed runs above which a column is void.
const voidShare = 0.01

// auditFailures: a column in which more than 1 % of the runs failed is void.
func auditFailures(into *Audit, art *artifacts.Artifact) {
	ran, failed := map[string]int{}, map[string]int{}
	for _, r := range art.Last() {
		switch r.Outcome {
		case artifacts.OutcomeFailed:
			failed[r.Variant.Name]++
			ran[r.Variant.Name]++
		case artifacts.OutcomeOK:
			ran[r.Variant.Name]++
		}
	}
	for _, column := range keys(ran) {
		into.Check(float64(failed[column]) <= voidShare*float64(ran[column]), "column-void", "column "+column,
			"at most 1 % failed runs", fmt.Sprintf("%d of %d", failed[column], ran[column]))
	}
}
