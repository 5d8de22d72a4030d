package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// resultsDir receives artifacts unless --out names another place; git ignores it.
const resultsDir = "results"

// artifactID is <matrix>-<UTC yyyymmddThhmmssZ>-<first seven digits of the commit, or norev>.
func artifactID(matrixName string, now time.Time) string {
	rev := "norev"
	if c := buildVersion().Commit; len(c) >= 7 {
		rev = c[:7]
	}
	return matrixName + "-" + now.UTC().Format("20060102T150405Z") + "-" + rev
}

// unfinished finds the newest artifact below dir that has the same plan and is not sealed; empty when there is none.
func unfinished(dir string, plan *matrix.Plan) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	slices.Reverse(entries) // ids of one matrix sort by time
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), plan.Matrix+"-2") {
			continue
		}
		m, err := artifacts.ReadManifest(path)
		if err == nil && m.PlanHash == plan.Hash && m.Finished == nil {
			return path
		}
	}
	return ""
}
