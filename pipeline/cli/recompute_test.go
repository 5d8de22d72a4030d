package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"transportbench/analysis/summary/summarytest"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// varied is an artifact with every state of a run, several columns, lost messages and receive-buffer drops.
func varied(t *testing.T) string {
	t.Helper()
	return invented(t, summarytest.Spec{
		Selection: matrix.Selection{Repetitions: 3, Scale: 0.01, MaxConnections: 5}, Noise: 0.3,
		Change: func(r *artifacts.Record) {
			switch {
			case r.Outcome != artifacts.OutcomeOK:
			case r.Variant.Name == "kcp-go" && r.Repetition == 2:
				r.Outcome, r.Reason = artifacts.OutcomeFailed, "client\texit 3: <wrong> \"écho\"\n"
			case r.Variant.Name == "udp":
				r.Counters.UDP["RcvbufErrors"] = int64(r.Index)
			case r.Repetition == 3:
				r.Counters, r.Server.Exit = nil, nil // an older record may lack them
			}
		},
	})
}

func TestPythonRecomputesTheSummary(t *testing.T) {
	python := need(t, "python3")
	dir := varied(t)
	want, err := os.ReadFile(filepath.Join(dir, "summary.tsv"))
	must(t, err)
	cmd := exec.Command(python, filepath.Join(root(t), "docs", "recompute.py"), dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("recompute.py: %v\n%s", err, errs.String())
	}
	if !bytes.Equal(got, want) {
		t.Errorf("recompute.py disagrees: %s", firstDifference(want, got))
	}
}

// missingError says which program a test cannot do without.
type missingError struct{ program string }

func (e *missingError) Error() string { return e.program + " is not installed" }

// need finds a program or skips the test, naming it.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := find(program)
	var missing *missingError
	if errors.As(err, &missing) {
		t.Skipf("unsupported: %v", missing)
	}
	must(t, err)
	return path
}

func find(program string) (string, error) {
	path, err := exec.LookPath(program)
	if errors.Is(err, exec.ErrNotFound) {
		return "", &missingError{program}
	}
	return path, err
}
