package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/artifacts"
)

// TestSetUpThatFails: where the link cannot be set up although it should, the run failed, with the reason and without a number. The
// console of a virtual machine is kept with it and sealed.
func TestSetUpThatFails(t *testing.T) {
	plan := testPlan(t, 1, nil)
	plan.Runs = plan.Runs[:2]
	opt := options(t, &fakeRuntime{openErr: func(id string) error {
		if strings.Contains(id, "/other/") {
			return errors.New("netem on lo: limit 1000 in the kernel, want 100000")
		}
		return nil
	}}, plan)
	opt.Console = func() ([]byte, error) { return []byte("Linux version\n"), nil }
	totals, err := Run(t.Context(), opt)
	must(t, err)
	if totals.Failed != 1 || totals.OK != 1 || totals.ExitCode() != ExitPartial {
		t.Fatalf("%+v", totals)
	}
	a, err := artifacts.Load(opt.Dir)
	must(t, err)
	for _, r := range a.Records {
		if r.Variant.Name != "other" {
			continue
		}
		if r.Outcome != artifacts.OutcomeFailed || r.Reason != "private network: netem on lo: limit 1000 in the kernel, want 100000" {
			t.Errorf("%s: %s", r.Outcome, r.Reason)
		}
		if r.Client.Result != nil || len(r.Series) > 0 || r.Counters != nil || r.Link != nil {
			t.Errorf("a run without a network has numbers: %+v", r)
		}
	}
	if b, err := os.ReadFile(filepath.Join(opt.Dir, artifacts.ConsoleLog)); string(b) != "Linux version\n" {
		t.Errorf("console %q, %v", b, err)
	}
	rep, err := artifacts.Verify(opt.Dir)
	if must(t, err); len(rep.Findings) > 0 {
		t.Error(rep.Findings)
	}
}
