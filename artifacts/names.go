package artifacts

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Files and folders of an artifact.
const (
	ManifestFile    = "manifest.json"
	PlanFile        = "plan.tsv"
	JournalFile     = "runs.ndjson"
	SumsFile        = "SHA256SUMS"
	ReplicationFile = "replication.json" // only where something is replicated
	DerivedSums     = "DERIVED.SHA256SUMS"
	SamplesDir      = "samples"
	LogsDir         = "logs"
	AnchorsDir      = "anchors"
	PlanAnchor      = "anchors/plan.tsr" // time-stamp of the plan hash, taken before the first run
	scratchDir      = ".tmp"             // raw files of the run in progress; gone when sealed
	currentFile     = ".tmp/current"
)

// Derived reports whether a path belongs to the files that `bench analyze` makes; the seal does not cover them.
func Derived(name string) bool {
	switch name {
	case DerivedSums, "summary.tsv", "summary.json", "summary.csv", "runs.bench", "report.html":
		return true
	}
	return strings.HasPrefix(name, "tables/") || strings.HasPrefix(name, "plots/")
}

// JournalAnchor is the path of a time-stamp of the hash of a journal line, counted from 1. The seal does not cover it: it may be taken
// afterwards, and proves itself.
func JournalAnchor(line int) string { return journalAnchor + strconv.Itoa(line) + anchorEnd }

const (
	journalAnchor = AnchorsDir + "/journal-"
	anchorEnd     = ".tsr"
)

// anchoredLine returns the journal line that a path stamps, 0 for any other path.
func anchoredLine(name string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, journalAnchor), anchorEnd))
	if err != nil || n < 1 || JournalAnchor(n) != name {
		return 0
	}
	return n
}

// heavy reports whether a path may be absent because it travels outside git.
func heavy(name string) bool {
	return strings.HasPrefix(name, SamplesDir+"/") || strings.HasPrefix(name, LogsDir+"/")
}

// ValidName checks a path inside an artifact: one or two parts of letters, digits, '.', '_' and '-', none starting with a dot.
// So no name escapes the folder, hides, or means something else on another system.
func ValidName(name string) error {
	if len(name) == 0 || len(name) > maxNameBytes {
		return fmt.Errorf("%w: %d bytes", ErrName, len(name))
	}
	parts := strings.Split(name, "/")
	if len(parts) > 2 {
		return fmt.Errorf("%w: %q is deeper than one folder", ErrName, name)
	}
	for _, p := range parts {
		if !validPart(p) {
			return fmt.Errorf("%w: %q", ErrName, name)
		}
	}
	return nil
}

func validPart(p string) bool {
	if p == "" || p[0] == '.' {
		return false
	}
	for i := range len(p) {
		if !plain(p[i]) && p[i] != '_' {
			return false
		}
	}
	return true
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '@' // name@core
}

// ValidRunID checks <profile>/<variant>/r<repetition>. A profile holds no '_', so that FileBase maps no two ids to one name.
func ValidRunID(id string) error {
	p := strings.Split(id, "/")
	if len(p) != 3 || !validPart(p[0]) || !validPart(p[1]) || strings.Contains(p[0], "_") || len(p[2]) < 2 || p[2][0] != 'r' {
		return fmt.Errorf("%w: run id %q is not profile/variant/rN", ErrName, id)
	}
	if n, err := strconv.Atoi(p[2][1:]); err != nil || n < 1 || "r"+strconv.Itoa(n) != p[2] {
		return fmt.Errorf("%w: run id %q has no repetition from 1", ErrName, id)
	}
	return nil
}

// FileBase names the files of one attempt: the run id with '_' for '/', then the attempt.
func FileBase(runID string, attempt int) string {
	return strings.ReplaceAll(runID, "/", "_") + ".a" + strconv.Itoa(attempt)
}

// SamplesName is the path of an attempt's raw RTTs.
func SamplesName(runID string, attempt int) string {
	return path.Join(SamplesDir, FileBase(runID, attempt)+".rtt.zst")
}

// LogName is the path of what one process of an attempt wrote to standard error.
func LogName(runID string, attempt int, side string) string {
	return path.Join(LogsDir, FileBase(runID, attempt)+"."+side+".log")
}
