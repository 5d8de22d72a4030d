//go:build mage

// Targets of the project: `go tool mage -l` lists them. Each is a thin call; flags belong to `bench` itself.
package main

import (
	"os"

	"github.com/magefile/mage/mg"
	"github.com/magefile/mage/sh"
)

// Default is what plain `go tool mage` does.
var Default = Quick

// Quick measures a small matrix in at most a minute and prints a table.
func Quick() error { return bench("run", "--matrix", "quick") }

// Matrix runs the whole published plan, in containers where an engine answers; an interrupted one is resumed.
func Matrix() error { return bench("run", "--matrix", "published", "--continue") }

// Smoke runs every cell of every built column once, with small counts.
func Smoke() error {
	return bench("run", "--matrix", "published", "--repetitions", "1", "--scale", "0.01", "--max-connections", "128",
		"--extra", "all", "--runtime", "local")
}

// Docker tests the container runtime and measures a little in it; .ci/docker starts an engine where none answers.
func Docker() error {
	mg.Deps(Build)
	return sh.RunV("bash", ".ci/docker")
}

// VMMatrix runs every published profile once at its full number of connections, with small counts, under netem in a virtual machine.
func VMMatrix() error {
	return bench("run", "--runtime", "vm", "--matrix", "published", "--repetitions", "1", "--scale", "0.01", "--deadline-scale", "20",
		"--vm-memory", "6144")
}

// Build builds bench, launch and every driver into .build.
func Build() error {
	// Without cgo it is static, as the image of its holder needs it.
	err := sh.RunWithV(map[string]string{"CGO_ENABLED": "0"}, "go", "build", "-trimpath", "-buildvcs=auto", "-o", ".build/bench", "./pipeline/cmd/bench")
	if err != nil {
		return err
	}
	return sh.RunV(".build/bench", "drivers", "build")
}

// Images assembles one container image per driver and the holder's, with archives and lists of contents in .build/images.
func Images() error { return bench("images", "build") }

// Release builds into dist one static program per processor that carries launch and the Go drivers, and their digests.
func Release() error { return bench("release") }

// Test runs the unit tests; TEST_FLAGS adds flags to go test.
func Test() error {
	mg.Deps(Build)
	return sh.RunV("go", "test", "./...")
}

// Race runs the unit tests under the race detector.
func Race() error { return sh.RunV("go", "test", "-race", "./...") }

// Conform runs the driver conformance suite against every built driver.
func Conform() error { return bench("conform", "--all") }

// BenchSelf reports what a run costs besides measuring.
func BenchSelf() error { return bench("self") }

// Lint checks formatting, go vet, the linters of .golangci.yml and the workflows.
func Lint() error {
	if err := sh.RunV("go", "tool", "-modfile=tools/actionlint/go.mod", "actionlint", "-shellcheck=", "-pyflakes="); err != nil {
		return err
	}
	return sh.RunV("go", "tool", "-modfile=tools/go.mod", "golangci-lint", "run", "--allow-parallel-runners", "./...")
}

// FlakeHashes writes flakehashes.json, the hash of the vendored modules that Nix builds with.
func FlakeHashes() error { return sh.RunV("go", "-C", "tools", "run", "./flakehashes", "write", "..") }

// CI runs what the gate runs.
func CI() error { return sh.RunV("bash", ".ci/run") }

// bench builds everything and runs bench with args on the caller's terminal.
func bench(args ...string) error {
	mg.Deps(Build)
	_, err := sh.Exec(nil, os.Stdout, os.Stderr, ".build/bench", args...)
	return err
}
