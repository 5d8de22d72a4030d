//go:build linux

package echoconn

import (
	"os/exec"
	"path/filepath"
	"testing"

	"transportbench/transports/echotest"
)

// TestConform builds the driver and holds it to the contract of every driver.
func TestConform(t *testing.T) {
	if testing.Short() {
		t.Skip("unsupported with -short: the conformance suite takes half a minute")
	}
	driver := filepath.Join(t.TempDir(), "raknet")
	if out, err := exec.Command("go", "build", "-o", driver, "../driver").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	rep := echotest.Conform(t.Context(), echotest.Options{Driver: driver, Seed: 4, Dir: t.TempDir()})
	for _, c := range rep.Checks {
		if c.Outcome == echotest.Fail {
			t.Errorf("%s: %s expected %s, found %s", c.Name, c.Reason, c.Expected, c.Found)
		}
	}
	if !rep.OK() {
		t.Error(rep.Err())
	}
	t.Logf("%d passed, %d unsupported", rep.Passed, rep.Unsupported)
}
