package kcp

import (
	"os/exec"
	"testing"

	"transportbench/transports/echotest"
)

func conform(t *testing.T, driver string, only ...string) {
	t.Helper()
	rep := echotest.Conform(t.Context(), echotest.Options{Driver: driver, Only: only, Seed: 4, Dir: t.TempDir()})
	for _, c := range rep.Checks {
		if c.Outcome == echotest.Fail {
			t.Errorf("%s: %s expected %s, found %s", c.Name, c.Reason, c.Expected, c.Found)
		}
	}
	if !rep.OK() {
		t.Error(rep.Err())
	}
}

// checks are the named ones, or the first alone under the race detector, which has nothing to find in a C program.
func checks(names ...string) []string {
	if raceEnabled {
		return names[:1]
	}
	return names
}

func TestConform(t *testing.T) {
	if raceEnabled {
		conform(t, driver(t, release()), "run/")
		return
	}
	conform(t, driver(t, release()))
}

// Memory errors, undefined behaviour and leaks end the process with a failure.
func TestConformUnderAddressSanitizer(t *testing.T) {
	names := checks("run/", "payload", "fault/flip", "fault/swap", "fault/repeat", "relay/", "junk/", "unknown-flag", "deadline-no-server")
	conform(t, driver(t, sanitized()), names...)
}

func TestConformUnderThreadSanitizer(t *testing.T) {
	v := driver(t, threaded())
	setarch, err := exec.LookPath("setarch")
	if err != nil {
		t.Fatal(err)
	}
	// Address space randomisation of recent kernels leaves the sanitizer's shadow no room.
	conform(t, script(t, "driver", setarch+" -R "+v), checks("run/", "relay/concurrent", "relay/loaded", "fault/swap/concurrent", "sigterm")...)
}

func TestConformUnderValgrind(t *testing.T) {
	v := driver(t, debug())
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		skipUnsupported(t, &unsupportedError{"valgrind is not installed"})
	}
	command := valgrind + " -q --error-exitcode=99 --leak-check=full --fair-sched=yes " + v
	conform(t, script(t, "driver", command), checks("run/single/send", "run/concurrent/batch", "fault/repeat/single/send")...)
}
