package sandbox_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"transportbench/pipeline/link"
	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

var _ sandbox.Runtime = (*sandbox.Docker)(nil)

func TestDockerConformance(t *testing.T) {
	runtimetest.Suite{Runtime: newTestDocker(t), Probe: probePath}.Run(t)
}

// probeIn runs the probe driver to its end and returns its output and Wait's error.
func probeIn(t *testing.T, env sandbox.Env, spec sandbox.ProcSpec, args ...string) (sandbox.Process, string, error) {
	t.Helper()
	spec.Name, spec.Path, spec.Args = "client", probePath, append([]string{runtimetest.ProbeArg}, args...)
	p, err := env.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	logs := make(chan struct{})
	go func() {
		defer close(logs)
		_, _ = io.Copy(io.Discard, p.Stderr())
	}()
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	<-logs
	return p, string(out), p.Wait()
}

func openIn(t *testing.T, d *sandbox.Docker, change ...func(*sandbox.EnvSpec)) sandbox.Env {
	t.Helper()
	spec := runtimetest.Spec()
	for _, c := range change {
		c(&spec)
	}
	env, err := d.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	})
	return env
}

// TestDockerOutOfMemory: launch still tells of the signal, the engine of the event.
func TestDockerOutOfMemory(t *testing.T) {
	const limit = 64 << 20
	d := newTestDocker(t, func(o *sandbox.DockerOptions) { o.Limits.MemoryBytes = limit })
	p, out, err := probeIn(t, openIn(t, d), sandbox.ProcSpec{}, "eat", "256")
	if err != nil || !strings.Contains(out, `"signal":9`) {
		t.Errorf("output %q, wait %v: want an exit record with signal 9", out, err)
	}
	c := p.(sandbox.ContainerReader).Container()
	if !c.OOMKilled && strings.Contains(d.Engine().Name, "Podman") {
		t.Skip("unsupported: this engine tells of an oom_kill event only when it ends the container's first process")
	}
	if !c.OOMKilled || c.MemoryBytes != limit {
		t.Errorf("container %+v: want oom_kill under a limit of %d", c, limit)
	}
}

// TestDockerLimits: what was asked for is what the engine says and the driver finds.
func TestDockerLimits(t *testing.T) {
	d := newTestDocker(t)
	probe, err := d.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cpu := probe.CPUs[len(probe.CPUs)-1:]
	p, out, err := probeIn(t, openIn(t, d), sandbox.ProcSpec{CPUs: cpu}, "facts")
	if err != nil {
		t.Fatal(err)
	}
	l, c := sandbox.DefaultLimits(), p.(sandbox.ContainerReader).Container()
	want := sandbox.Container{
		Image: c.Image, Cpuset: sandbox.FormatCPUList(cpu), MemoryBytes: l.MemoryBytes, PIDs: l.PIDs, NoFile: l.NoFile,
		User: "65534:65534", ReadOnly: true,
	}
	if c != want || !strings.HasPrefix(c.Image, "sha256:") {
		t.Errorf("container %+v, want %+v", c, want)
	}
	if !strings.Contains(out, `"nofile_hard":16384`) || probe.NoFileHard != 16384 {
		t.Errorf("open files: probe %d, launch %s", probe.NoFileHard, out)
	}
	if probe.Engine == nil || probe.Engine.Version == "" || probe.Environment == nil || probe.Environment.Kernel == "" {
		t.Errorf("probe: %+v", probe)
	}
}

func TestDockerImpossiblePlacement(t *testing.T) {
	env := openIn(t, newTestDocker(t))
	_, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "server", Path: probePath, CPUs: []int{4000}})
	var missing *sandbox.UnsupportedError
	if !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), "placement: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("start: %v, want one line of an *UnsupportedError about the placement", err)
	}
}

func TestDockerExecFailure(t *testing.T) {
	env := openIn(t, newTestDocker(t))
	p, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "server", Path: "/test/junk"})
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, p.Stderr()) //nolint:errcheck // ends with the container
	out, err := io.ReadAll(p.Stdout())
	if err = errors.Join(err, p.Wait()); err != nil || !strings.Contains(string(out), `"exec_errno":8`) {
		t.Errorf("output %q: %v, want exec_errno 8", out, err)
	}
}

// TestDockerImageMismatch: an engine whose image has other layers than were made is not used.
func TestDockerImageMismatch(t *testing.T) {
	d := newTestDocker(t, func(o *sandbox.DockerOptions) {
		forged := *o.Holder
		forged.Layers = slices.Clone(forged.Layers)
		forged.Layers[0] = "sha256:" + strings.Repeat("0", 64)
		o.Holder = &forged
	})
	openIn(t, newTestDocker(t)) // the engine has the true one
	_, err := d.Open(t.Context(), runtimetest.Spec())
	var bad *sandbox.ImageError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "digest mismatch") || strings.Contains(err.Error(), "\n") {
		t.Errorf("open: %v, want one line of an *ImageError", err)
	}
}

// TestDockerHolderDies: everyone who waits hears of it, and the drivers are gone with it.
func TestDockerHolderDies(t *testing.T) {
	env := openIn(t, newTestDocker(t))
	p, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "server", Path: probePath, Args: []string{runtimetest.ProbeArg, "tree", "x"}})
	if err != nil {
		t.Fatal(err)
	}
	sandbox.KillHolder(t, env)
	for _, r := range []io.Reader{p.Stderr(), p.Stdout()} {
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Error(err)
		}
	}
	var died *sandbox.HolderError
	if err := p.Wait(); !errors.As(err, &died) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("wait: %v, want a *HolderError that says how", err)
	}
	if _, err := env.Counters(t.Context()); !errors.As(err, &died) {
		t.Errorf("counters: %v, want a *HolderError", err)
	}
	if _, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "late", Path: probePath}); !errors.As(err, &died) {
		t.Errorf("start: %v, want a *HolderError", err)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("stop of what is gone: %v", err)
	}
}

// TestDockerImpairment opens every backend that works here, with loss, and with delay where it can.
func TestDockerImpairment(t *testing.T) {
	d := newTestDocker(t)
	probe, err := d.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range probe.Links {
		t.Run(c.Backend, func(t *testing.T) {
			if !c.OK {
				t.Skip("unsupported: ", c.Reason, "; ", c.Fix)
			}
			env := openIn(t, d, func(s *sandbox.EnvSpec) {
				s.Link.Backend, s.Link.LossPPM = c.Backend, 10_000
				if c.Delay {
					s.Link.DelayNS = 5 * time.Millisecond
				}
			})
			if st := env.Link(); st.Backend != c.Backend || st.LossPPM < 9_999 || st.LossPPM > 10_001 || c.Delay != (st.DelayNS > 0) {
				t.Errorf("link: %+v", st)
			}
			if _, out, err := probeIn(t, env, sandbox.ProcSpec{}, "facts"); err != nil || !strings.Contains(out, `"congestion_control":"cubic"`) {
				t.Errorf("driver: %v, %s", err, out)
			}
		})
	}
	if !slices.ContainsFunc(probe.Links, func(c link.Capability) bool { return c.OK }) {
		t.Errorf("no backend works in a container: %+v", probe.Links)
	}
}

// TestDockerLeavesNothing counts what the engine has before and after, with samples and with a driver left running.
func TestDockerLeavesNothing(t *testing.T) {
	d := newTestDocker(t)
	before, err := sandbox.EngineState(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	env := openIn(t, d)
	probeIn(t, env, sandbox.ProcSpec{Samples: filepath.Join(t.TempDir(), "a.rtt")}, "samples", "x")
	if _, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "server", Path: probePath, Args: []string{runtimetest.ProbeArg, "deaf"}}); err != nil {
		t.Fatal(err)
	}
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := sandbox.EngineState(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, after) {
		t.Errorf("engine before %q, after %q", before, after)
	}
}

// TestDockerSamplesOverwriteNothing: the copy does not follow a link that somebody put there.
func TestDockerSamplesOverwriteNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rtt")
	if err := os.Symlink("/dev/null", path); err != nil {
		t.Fatal(err)
	}
	_, _, err := probeIn(t, openIn(t, newTestDocker(t)), sandbox.ProcSpec{Samples: path}, "samples", "x")
	if !errors.Is(err, os.ErrExist) || !strings.HasPrefix(err.Error(), "samples of client: ") {
		t.Errorf("wait: %v, want a refusal to write over a file", err)
	}
}
