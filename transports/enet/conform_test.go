package enet

import (
	"testing"

	"transportbench/transports/echotest"
)

func conform(t *testing.T, driver string, only ...string) {
	t.Helper()
	rep := echotest.Conform(t.Context(), echotest.Options{Driver: driver, Only: only, Seed: 7, Dir: t.TempDir()})
	for _, c := range rep.Checks {
		if c.Outcome == echotest.Fail {
			t.Errorf("%s: %s expected %s, found %s", c.Name, c.Reason, c.Expected, c.Found)
		}
	}
	if !rep.OK() {
		t.Error(rep.Err())
	}
}

// CI runs the whole suite against the built driver; here are the checks in which ENet's own parts have their say.
func TestConform(t *testing.T) {
	conform(t, driver(t, release()), "run/", "done/", "payload", "settings", "connections-too-many", "deadline-silent-server", "fault/cut", "relay/loaded")
}

func TestConformUnderSanitizers(t *testing.T) {
	conform(t, driver(t, sanitized()), "run/", "payload", "fault/", "relay/", "junk/", "unknown-flag", "deadline-no-server", "sigterm")
}
