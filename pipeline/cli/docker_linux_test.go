package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/cobra"

	"transportbench/artifacts"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/runner"
	"transportbench/pipeline/sandbox"
)

// dockerRun measures a small plan in containers and returns the artifact. change alters what the runtime is asked for.
func dockerRun(t *testing.T, only string, change func(*sandbox.DockerOptions)) *artifacts.Artifact {
	t.Helper()
	if _, err := sandbox.FindEngine(t.Context()); errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Skip("unsupported: ", err)
	}
	dir := buildDrivers(t)
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, drivers.Bench), "./pipeline/cmd/bench")
	cmd.Dir, cmd.Env = root(t), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bench: %v: %s", err, out)
	}
	c := &cobra.Command{}
	c.SetContext(t.Context())
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	f := runFlags{driversDir: dir, runtime: runtimeDocker, progress: "plain", out: filepath.Join(t.TempDir(), "a")}
	f.matrix = "published"
	f.sel = matrix.Selection{Only: []string{only}, Scale: 0.001, Repetitions: 1}
	plan, err := f.plan()
	must(t, err)
	plan.Probe = nil
	b, err := f.boxes(t.Context(), plan, dir)
	must(t, err)
	change(&b.options)
	rt, err := sandbox.NewDocker(t.Context(), b.options)
	must(t, err)
	defer func() { must(t, rt.Close()) }()
	opt := runner.Options{Plan: plan, Runtime: rt, Floor: filepath.Join(dir, drivers.Launch)}
	must(t, f.complete(c, &opt, dir, b))
	_, err = runner.Run(t.Context(), opt)
	must(t, err)
	a, err := artifacts.Load(f.out)
	must(t, err)
	return a
}

// TestDockerArtifact: what a reader has to know of the containers is in the artifact.
func TestDockerArtifact(t *testing.T) {
	a := dockerRun(t, "suite=sparse,variant=tcp", func(*sandbox.DockerOptions) {})
	m := a.Manifest
	if m.Runtime != "docker" || m.Containers == nil || len(m.ControlledFrom) == 0 || len(m.MeasuredOn) == 0 || !a.Sealed {
		t.Errorf("manifest: %+v", m)
	}
	tcp := m.Containers.Images["tcp"]
	if tcp.Config == "" || tcp.Config != m.Images["tcp"] || tcp.Manifest == "" || len(tcp.Layers) != 3 || m.Containers.Images["holder"].Config == "" {
		t.Errorf("images: %+v", m.Containers.Images)
	}
	r := a.Records[0]
	if r.Outcome != artifacts.OutcomeOK || r.Link == nil || r.Link.Backend == "" {
		t.Fatalf("run: %+v", r)
	}
	for name, side := range map[string]artifacts.Side{"server": r.Server, "client": r.Client} {
		c := side.Container
		if c == nil || c.Image != tcp.Config || c.Cpuset != sandbox.FormatCPUList(side.Exit.Affinity) || c.MemoryBytes == 0 || c.PIDs == 0 || c.NoFile == 0 {
			t.Errorf("%s: container %+v on CPUs %v", name, c, side.Exit.Affinity)
		}
	}
	if s := a.Suites[0]; s.RSS == nil || s.RSS.FloorKiB <= 0 {
		t.Errorf("floor of peak RSS: %+v", s)
	}
	rep, err := artifacts.Verify(a.Dir)
	must(t, err)
	if len(rep.Findings) != 0 {
		t.Errorf("verify: %v", rep.Findings)
	}
}

// TestDockerOutOfMemoryIsRecorded: a driver over the limit is a failed run, whose reason names the signal and the event.
func TestDockerOutOfMemoryIsRecorded(t *testing.T) {
	const limit = 8 << 20
	a := dockerRun(t, "suite=concurrent,payload=800,connections=1024,loss=0,variant=tcp", func(o *sandbox.DockerOptions) { o.Limits.MemoryBytes = limit })
	r := a.Records[0]
	if r.Outcome != artifacts.OutcomeFailed || !strings.Contains(r.Reason, "signal 9 (event oom_kill of its container's memory control group, limit 8 MiB)") {
		t.Errorf("outcome %s: %s", r.Outcome, r.Reason)
	}
}

// TestStaleHolderIsPassedOver: a bench of other sources would measure with another link.
func TestStaleHolderIsPassedOver(t *testing.T) {
	const id = "ce013625030ba8dba906f756967f9e9ca394464a" // of "hello\n", as git hash-object prints it
	tree := fstest.MapFS{"a.go": {Data: []byte("hello\n")}, pinsFile: {}}
	for _, c := range []struct {
		fsys  fstest.MapFS
		files []drivers.SourceFile
		want  bool
	}{
		{tree, []drivers.SourceFile{{Path: "a.go", ID: id}}, true},
		{tree, []drivers.SourceFile{{Path: "a.go", ID: strings.Repeat("0", 40)}}, false},
		{tree, []drivers.SourceFile{{Path: "b.go", ID: id}}, false},
		{fstest.MapFS{}, []drivers.SourceFile{{Path: "b.go", ID: id}}, true},
	} {
		if got, err := current(c.fsys, c.files); got != c.want || err != nil {
			t.Errorf("%v: %v, %v, want %v", c.files, got, err, c.want)
		}
	}
}
