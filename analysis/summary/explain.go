package summary

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// Explanation is everything that the journal knows about the runs of one cell.
type Explanation struct {
	Cell    matrix.Cell
	Metric  Metric
	Runs    []ExplainedRun // in order of time, every attempt
	Worst   int            // index in Runs of the worst counted run; -1 below two
	Suspect []string       // what was most disturbed in just that run; a hint, no proof
	NotRun  []string       // planned runs without a line
	Share   string         // of the variance between runs; empty where it cannot be told
}

// ExplainedRun is one attempt.
type ExplainedRun struct {
	Record        *artifacts.Record
	Value         float64 // NaN: no number
	Counted       bool    // the last attempt of its run, and ok
	Disturbances  []Disturbance
	Samples       []string // what each RTT series is worth
	Before, After string   // runs of the same block that were measured just before and after; empty at its ends
	Probe         *artifacts.Probe
	Command       string // measures this run again, with the same seed, as the last of its column
}

// Disturbance is one measure of what else the machine did during a run.
type Disturbance struct {
	Name  string
	Unit  string
	Value float64
}

// Explain collects the runs of a cell, valued by one metric. Without a metric it takes the first that the cell has of
// throughput, loaded p50 and sparse p50, in the order that its suite is about.
func Explain(art *artifacts.Artifact, s *Summary, cell matrix.Cell, metric string) (*Explanation, error) {
	if s.Status[cell] == nil {
		return nil, fmt.Errorf("cell %s/%s is not in the plan of %s", cell.Profile, cell.Variant, art.Manifest.ID)
	}
	if metric == "" {
		metric = mainMetric(cell.Profile)
	}
	i := slices.IndexFunc(Metrics(), func(m Metric) bool { return m.Name == metric })
	if i < 0 {
		return nil, fmt.Errorf("metric %q does not exist", metric)
	}
	e := &Explanation{Cell: cell, Metric: Metrics()[i], Worst: -1}
	counted := map[string]int{}
	for _, r := range art.Last() {
		counted[r.RunID] = r.Attempt
	}
	prefix := cell.Profile + "/" + cell.Variant + "/"
	for i := range art.Records {
		r := &art.Records[i]
		if strings.HasPrefix(r.RunID, prefix) {
			e.Runs = append(e.Runs, e.explain(art, r, counted[r.RunID] == r.Attempt))
		}
	}
	for _, p := range art.Plan {
		if _, ok := counted[p.RunID]; !ok && strings.HasPrefix(p.RunID, prefix) {
			e.NotRun = append(e.NotRun, p.RunID)
		}
	}
	e.suspect()
	e.Share = share(art, e.Runs)
	return e, nil
}

func mainMetric(profile string) string {
	switch suite, _, _ := strings.Cut(profile, "-"); suite {
	case "loaded":
		return LoadedP50
	case "sparse":
		return SparseP50
	}
	return Throughput
}

func (e *Explanation) explain(art *artifacts.Artifact, r *artifacts.Record, last bool) ExplainedRun {
	x := ExplainedRun{Record: r, Value: math.NaN(), Counted: last && r.Outcome == artifacts.OutcomeOK, Disturbances: disturbances(r), Samples: weighed(art, r), Command: rerun(art.Manifest, r)}
	if v, ok := e.Metric.value(r); ok && r.Outcome == artifacts.OutcomeOK {
		x.Value = v
	}
	x.Before, x.After = neighbours(art, r)
	for i := range art.Probes {
		if p := &art.Probes[i]; p.Block == r.Block && !p.Started.After(r.Started) {
			x.Probe = p // after a resume the block has another; the last one before the run is its own
		}
	}
	return x
}

// neighbours are the runs of the same block next to r in time.
func neighbours(art *artifacts.Artifact, r *artifacts.Record) (before, after string) {
	var block []*artifacts.Record
	for i := range art.Records {
		if art.Records[i].Block == r.Block {
			block = append(block, &art.Records[i])
		}
	}
	slices.SortStableFunc(block, func(a, b *artifacts.Record) int { return cmp.Or(a.Started.Compare(b.Started), a.Index-b.Index) })
	i := slices.Index(block, r)
	if i > 0 {
		before = block[i-1].RunID
	}
	if i+1 < len(block) {
		after = block[i+1].RunID
	}
	return before, after
}

// suspect finds the worst counted run and the disturbances that were greatest in it and at least half as much again as in the median run.
func (e *Explanation) suspect() {
	var counted []int
	for i, r := range e.Runs {
		if r.Counted && !math.IsNaN(r.Value) {
			counted = append(counted, i)
		}
	}
	if len(counted) < 2 || e.Metric.Better == 0 {
		return
	}
	e.Worst = slices.MinFunc(counted, func(a, b int) int {
		return cmp.Compare(e.Runs[a].Value, e.Runs[b].Value) * e.Metric.Better
	})
	for _, d := range e.Runs[e.Worst].Disturbances {
		var all []float64
		for _, i := range counted {
			for _, o := range e.Runs[i].Disturbances {
				if o.Name == d.Name {
					all = append(all, o.Value)
				}
			}
		}
		if _, most := stats.Range(all); len(all) == len(counted) && d.Value == most && d.Value > 1.5*stats.Median(all) {
			e.Suspect = append(e.Suspect, fmt.Sprintf("%s %.3g %s against a median of %.3g", d.Name, d.Value, d.Unit, stats.Median(all)))
		}
	}
}

// rerun is the command that measures the run again. Seeds depend on matrix, profile and repetition alone, so repetition r of
// the new artifact meets the same losses where the backend is seeded.
func rerun(m artifacts.Manifest, r *artifacts.Record) string {
	words := []string{"bench run --matrix " + m.Matrix.Name}
	for _, o := range m.Options {
		switch name, value, _ := strings.Cut(o, "="); name {
		case "--matrix":
			words[0] = "bench run --matrix " + value
		case "--only", "--repetitions", "--extra": // replaced below; --only names extra columns by itself
		case "--driver":
			if value == r.Variant.Name {
				words = append(words, "--driver "+value+"=PATH")
			}
		default:
			words = append(words, strings.TrimSpace(name+" "+value))
		}
	}
	if m.Runtime != "" && m.Runtime != "local" { // what auto would take where no engine answers
		words = append(words, "--runtime "+m.Runtime)
	}
	return strings.Join(append(words, "--repetitions "+strconv.Itoa(r.Repetition), "--only profile="+r.Profile.ID+",variant="+r.Variant.Name), " ")
}
