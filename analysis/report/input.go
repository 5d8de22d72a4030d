package report

import (
	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

// Input is everything the offline report shows. Equal inputs give equal bytes.
type Input struct {
	Artifact *artifacts.Artifact
	Summary  *summary.Summary
	Effects  []Effect                  // comparisons between columns, in the order in which they are shown; none: the section says so
	Rerun    func(runID string) string // the one command that measures a run again; nil: none is printed
}

// Effect is one comparison between two columns of a profile, computed elsewhere.
type Effect struct {
	Profile  string
	Metric   string
	Variant  string
	Base     string  // the column it is divided by
	Ratio    float64 // exp of the mean log ratio within blocks
	Lo, Hi   float64 // ends of its interval; equal: there is none
	N        int     // blocks
	Verdict  string  // greater, less, =, equal, not decidable with n runs ...
	Primary  bool    // declared in the plan, not found afterwards
	Distinct bool    // the decision procedure tells the two apart
	Note     string
}
