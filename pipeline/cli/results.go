package cli

import (
	"crypto/sha256"
	"encoding/hex"
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

// pinsFile is where the expected digests stand, relative to the checkout.
const pinsFile = "containers/pins.json"

// artifactID is <matrix>-<UTC yyyymmddThhmmssZ>-<first seven digits of the commit, or norev>.
func artifactID(matrixName string, now time.Time) string {
	rev := "norev"
	if c := buildVersion().Commit; len(c) >= 7 {
		rev = c[:7]
	}
	return matrixName + "-" + now.UTC().Format("20060102T150405Z") + "-" + rev
}

// artifactFolder refuses, in plain words, what was never an artifact. A damaged one passes: its defects have names of their own.
func artifactFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return usage("%s: no such folder; name the folder of an artifact, as bench run prints it", dir)
	}
	for _, name := range []string{artifacts.ManifestFile, artifacts.PlanFile, artifacts.JournalFile, artifacts.SumsFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return nil
		}
	}
	return usage("%s: is not an artifact (it has no %s); name a folder that bench run made", dir, artifacts.ManifestFile)
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

// digest is the SHA-256 of b in hex.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
