package runner

import (
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// estimator learns how long runs take: from the same cell if one finished, else from the same profile, else the same suite, else any.
type estimator struct {
	left []task
	seen map[string]*average
}

type average struct {
	sum time.Duration
	n   int
}

func newEstimator() estimator { return estimator{seen: map[string]*average{}} }

// keys go from what says most about a run to what says least.
func keys(p matrix.Profile, v matrix.Variant) []string {
	return []string{"c/" + p.ID + "/" + v.Name, "p/" + p.ID, "s/" + p.Suite, "all"}
}

// learn takes one finished attempt. Unsupported runs take no time and teach nothing.
func (e *estimator) learn(r *artifacts.Record) {
	if r.Outcome == artifacts.OutcomeUnsupported {
		return
	}
	for _, k := range keys(r.Profile, r.Variant) {
		a := e.seen[k]
		if a == nil {
			a = &average{}
			e.seen[k] = a
		}
		a.sum, a.n = a.sum+time.Duration(r.WallNS), a.n+1
	}
}

// remaining estimates the time of everything left; 0 while nothing is known.
func (e *estimator) remaining() time.Duration {
	var sum time.Duration
	for _, t := range e.left {
		for _, k := range keys(t.run.Profile, t.run.Variant) {
			if a := e.seen[k]; a != nil {
				sum += a.sum / time.Duration(a.n)
				break
			}
		}
	}
	return sum
}
