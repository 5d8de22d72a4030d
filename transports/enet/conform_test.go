package enet

import (
	"testing"

	"transportbench/transports/echotest"
)

// Memory errors, undefined behaviour and leaks end the process with a failure. `bench conform --all` runs the whole suite without them.
func TestConformUnderSanitizers(t *testing.T) {
	names := []string{"run/", "payload", "fault/", "relay/", "junk/", "unknown-flag", "deadline-no-server", "sigterm"}
	if raceEnabled {
		names = names[:1]
	}
	rep := echotest.Conform(t.Context(), echotest.Options{Driver: driver(t), Only: names, Seed: 7, Dir: t.TempDir()})
	for _, c := range rep.Checks {
		if c.Outcome == echotest.Fail {
			t.Errorf("%s: %s expected %s, found %s", c.Name, c.Reason, c.Expected, c.Found)
		}
	}
	if !rep.OK() {
		t.Error(rep.Err())
	}
}
