package artifacts

import (
	"fmt"
	"os"
	"strings"
)

// Files names every file of a sealed artifact in order, and says whether samples or logs that the seal knows are absent.
// A file that the format does not allow for is an error.
func Files(dir string) (names, absent []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("artifact: %w", err)
	}
	defer func() { _ = root.Close() }() // read only
	if names, err = list(root); err != nil {
		return nil, nil, err
	}
	b, err := readFile(root, SumsFile, MaxSumsBytes)
	if err != nil {
		return nil, nil, err
	}
	sums, err := decodeSums(b)
	if err != nil {
		return nil, nil, err
	}
	here := make(map[string]bool, len(names))
	for _, n := range names {
		here[n] = true
	}
	for _, s := range sums {
		if !here[s.name] {
			absent = append(absent, s.name)
		}
	}
	return names, absent, nil
}

// MaxBytes is the largest size that a reader accepts of the file called name.
func MaxBytes(name string) int64 {
	switch name {
	case ManifestFile:
		return MaxManifestBytes
	case PlanFile:
		return MaxPlanBytes
	case ReplicationFile:
		return MaxReplicationBytes
	case JournalFile:
		return MaxJournalBytes
	case SumsFile, DerivedSums:
		return MaxSumsBytes
	}
	switch {
	case strings.HasPrefix(name, LogsDir+"/"):
		return MaxLogBytes
	case strings.HasPrefix(name, AnchorsDir+"/"):
		return maxAnchorBytes
	}
	return maxFileBytes
}
