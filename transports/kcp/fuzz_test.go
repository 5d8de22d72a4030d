package kcp

import (
	"os/exec"
	"testing"
)

// The fuzz target of the input path with seeded mutations; fuzz/input.c runs under libFuzzer as well.
func TestInputPathSurvivesMutations(t *testing.T) {
	files := append(ourFiles(t, "main.c", "clock.c"), "fuzz/input.c", "fuzz/loop.c")
	path := program(t, sanitized(), mustCore(t), "fuzz", files)
	for _, seed := range checks("1", "2") {
		if out, err := exec.Command(path, "10000", seed).CombinedOutput(); err != nil {
			t.Fatalf("seed %s: %v\n%s", seed, err, out)
		}
	}
}
