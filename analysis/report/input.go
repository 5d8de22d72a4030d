package report

import (
	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

// Input is everything the offline report shows. Equal inputs give equal bytes.
type Input struct {
	Artifact *artifacts.Artifact
	Summary  *summary.Summary
	Ratios   []summary.RatioProfile    // comparisons between columns, in the order in which they are shown; none: the section says so
	Rerun    func(runID string) string // the one command that measures a run again; nil: none is printed
}
