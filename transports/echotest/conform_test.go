//go:build unix

package echotest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// buildBroken compiles the misbehaving driver once and returns a function that gives it a way to misbehave.
func buildBroken(t *testing.T) func(way string) string {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "broken")
	if out, err := exec.Command("go", "build", "-o", bin, "./testdata/broken").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return func(way string) string {
		path := filepath.Join(dir, "broken-"+way)
		if err := os.Link(bin, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// misbehaviour is one way to break the contract and the check that must notice.
type misbehaviour struct{ way, check string }

// wrongOutput lists lies and disorder in what a driver writes.
func wrongOutput() []misbehaviour {
	return []misbehaviour{
		{"contract", "describe"},
		{"anonymous", "describe"},
		{"two-describes", "describe"},
		{"exit-code", "unknown-suite"},
		{"flags-ignored", "unknown-flag"},
		{"small-payload", "payload-too-small"},
		{"junk", "records/single/send"},
		{"order", "records/single/send"},
		{"long-line", "records/single/send"},
		{"flood", "records/single/send"},
		{"no-result", "records/single/send"},
		{"no-start", "records/single/send"},
		{"no-result", "result/single/send"},
		{"bytes", "result/single/send"},
		{"lost", "result/single/send"},
		{"elapsed", "result/single/send"},
		{"rtt", "littles-law/single/send"},
		{"clock", "clock/single/send"},
		{"no-done", "done/single/send"},
		{"done-counts", "done/single/send"},
		{"done-connections", "done/concurrent/send"},
		{"one-listener", "done/concurrent/send"},
		{"p99", "samples/single/send"},
	}
}

// wrongConduct lists wrong settings, endings and reactions.
func wrongConduct() []misbehaviour {
	return []misbehaviour{
		{"overwrite", "samples-kept"},
		{"workers", "settings"},
		{"mtu", "settings"},
		{"window", "settings"},
		{"buffers", "settings-connected"},
		{"listeners", "settings-listeners"},
		{"affinity", "affinity"},
		{"no-done", "sigterm"},
		{"never-ends", "sigterm"},
		{"stops-at-eof", "eof-ignored"},
		{"ignores-eof", "stop-on-eof"},
		{"deadline-missed", "deadline-silent-server"},
		{"deadline-missed", "deadline-server"},
		{"no-verification", "fault/flip/single/send"},
		{"no-verification", "fault/swap/concurrent/send"},
		{"no-verification", "fault/repeat/loaded/send"},
		{"unreliable", "relay/single/send"},
		{"crash-on-junk", "junk/single"},
	}
}

// TestEveryMisbehaviourIsCaught pairs each way to break the contract with the check that must notice, and shows that an honest driver passes it.
func TestEveryMisbehaviourIsCaught(t *testing.T) {
	broken := buildBroken(t)
	honest := broken("none")
	for _, c := range append(wrongOutput(), wrongConduct()...) {
		path := filepath.Join(filepath.Dir(honest), "broken-"+c.way)
		if _, err := os.Stat(path); err != nil {
			path = broken(c.way)
		}
		t.Run(c.way+"/"+filepath.Base(c.check), func(t *testing.T) {
			t.Parallel()
			if got := outcomeOf(t, path, c.check); got.Outcome != Fail {
				t.Errorf("check %s: %s for a driver that is broken: %s", c.check, got.Outcome, c.way)
			} else if got.Expected == "" && got.Reason == "" {
				t.Errorf("check %s does not say what it found", c.check)
			}
			if got := outcomeOf(t, honest, c.check); got.Outcome != Pass {
				t.Errorf("check %s fails an honest driver: %+v", c.check, got)
			}
		})
	}
}

// outcomeOf runs one check.
func outcomeOf(t *testing.T, driver, check string) Check {
	t.Helper()
	r := Conform(context.Background(), Options{Driver: driver, Dir: t.TempDir(), Only: []string{check}, Seed: 7})
	for _, c := range r.Checks {
		if c.Name == check {
			return c
		}
	}
	t.Fatalf("check %s did not run: %+v", check, r.Checks)
	return Check{}
}

func TestHonestDriverPasses(t *testing.T) {
	honest := buildBroken(t)("none")
	var seen int
	r := Conform(context.Background(), Options{Driver: honest, Dir: t.TempDir(), Seed: 7, Progress: func(Check) { seen++ }})
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	for _, c := range r.Checks {
		if c.Outcome == Fail {
			t.Errorf("%+v", c)
		}
	}
	if seen != len(r.Checks) || seen < 100 || r.Passed+r.Failed+r.Unsupported != seen {
		t.Errorf("%d checks reported, %d in the report", seen, len(r.Checks))
	}
}

func TestMissingDriverIsOneFailedCheck(t *testing.T) {
	r := Conform(context.Background(), Options{Driver: filepath.Join(t.TempDir(), "absent"), Dir: t.TempDir()})
	if r.OK() || len(r.Checks) != 1 || r.Checks[0].Name != "describe" || r.Checks[0].Reason == "" {
		t.Errorf("%+v", r)
	}
}

func TestInterruptedSuiteSaysSo(t *testing.T) {
	honest := buildBroken(t)("none")
	ctx, cancel := context.WithCancel(context.Background())
	r := Conform(ctx, Options{Driver: honest, Dir: t.TempDir(), Progress: func(Check) { cancel() }})
	if r.OK() || r.Checks[len(r.Checks)-1].Name != "interrupted" {
		t.Errorf("%+v", r.Checks[len(r.Checks)-1])
	}
}
