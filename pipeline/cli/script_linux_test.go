package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"transportbench/artifacts/anchor/anchortest"
	"transportbench/pipeline/sandbox"
)

// lockVar names the file that scripts lock instead of the machine: a test neither waits for a measurement nor disturbs the
// next one's turn.
const lockVar = "BENCH_TEST_LOCK"

// engineVar points bench to a container engine that is not there, so that scripts behave alike on every machine.
const engineVar = "DOCKER_HOST"

// TestMain is the test program, or bench when a script calls it by that name, or one of the two programs that bench makes of
// itself: the holder of a private network, and conform inside of one.
func TestMain(m *testing.M) {
	bench := func() {
		os.Exit(console{os.Stdin, os.Stdout, os.Stderr, os.Getenv(lockVar)}.main(os.Args[1:]))
	}
	if len(os.Args) > 1 && (os.Args[1] == sandbox.HolderArg || slices.Contains(os.Args, isolatedArg)) {
		bench()
	}
	testscript.Main(m, map[string]func(){"bench": bench})
}

// TestScripts plays every script of testdata/script: what a user types, what bench answers, what stays on disk.
// Beside testscript's own commands there are those of scriptCommands.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("unsupported in -short: builds drivers and measures with them")
	}
	requireNamespaces(t)
	drivers, tsa := buildDrivers(t), anchortest.New(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), Cmds: scriptCommands(), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DRIVERS", drivers)
			e.Setenv("TSA", tsa.URL)
			e.Setenv("TSACA", tsa.CAFile)
			e.Setenv(lockVar, filepath.Join(e.WorkDir, "lock"))
			e.Setenv(engineVar, "unix://"+filepath.Join(e.WorkDir, "no-engine.sock")) // scripts are about the local runtime
			e.Values[heldKey{}] = &held{}
			return nil
		},
	})
}

// requireNamespaces skips where this machine has no private networks; what bench says then is the subject of sandbox's tests.
func requireNamespaces(t *testing.T) {
	t.Helper()
	rt, err := sandbox.NewLocal("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	probe, err := rt.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if probe.Namespaces != "ok" {
		t.Skipf("unsupported: %s; %s", probe.Namespaces, probe.Fix)
	}
}

// buildDrivers makes the few programs that scripts need: launch, tcp, a driver that misbehaves as its name says, and in the folder
// paced some whose speed does not depend on the machine.
func buildDrivers(t *testing.T) string {
	t.Helper()
	dir, root := t.TempDir(), root(t)
	if err := os.Mkdir(filepath.Join(dir, "paced"), 0o755); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	builds := [][]string{
		{"gcc", "-O2", "-static", "-o", filepath.Join(dir, "launch"), "containers/launch/launch.c"},
		{"go", "build", "-o", filepath.Join(dir, "tcp"), "./transports/tcp/driver"},
		{"go", "build", "-o", filepath.Join(dir, "broken"), "./transports/echotest/testdata/broken"},
	}
	for name, period := range map[string]string{"tcp": "1ms", "twin": "1.5ms", "late": "2.2ms", "crawl": "3ms"} {
		builds = append(builds, []string{
			"go", "build", "-ldflags", "-X main.period=" + period, "-o", filepath.Join(dir, "paced", name), "./pipeline/cli/testdata/paced",
		})
	}
	errs := make([]error, len(builds))
	for i, args := range builds {
		wg.Go(func() {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				errs[i] = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"paced/launch": "launch"}
	for _, way := range []string{"junk", "no-result", "no-verification", "done-counts"} {
		links["broken-"+way] = "broken"
	}
	for link, file := range links {
		if err := os.Link(filepath.Join(dir, file), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
