package runtimetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
)

// Suite runs every check against one runtime. Probe is the path, as the runtime sees it, of a program that hands ProbeArg to
// ProbeMain.
type Suite struct {
	Runtime sandbox.Runtime
	Probe   string
}

// deadline bounds one check; nothing in the suite takes a second on an idle machine.
const deadline = 60 * time.Second

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	checks := []struct {
		name string
		do   func(*testing.T, sandbox.Env)
	}{
		{"output", s.output}, {"exit code", s.exitCode}, {"exec failure", s.execFailure}, {"missing driver", s.missing},
		{"stop", s.stop}, {"stop a deaf driver", s.stopDeaf}, {"kill", s.kill}, {"orphan", s.orphan},
		{"place", s.place}, {"affinity", s.affinity}, {"threads", s.threads}, {"samples", s.samples},
		{"two drivers", s.two}, {"close ends drivers", s.closeEnds}, {"counters", s.counters}, {"host", s.host},
		{"probe", s.probe},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			env, err := s.Runtime.Open(ctx, Spec())
			var missing *sandbox.UnsupportedError
			if errors.As(err, &missing) {
				t.Skip("unsupported: ", missing)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := env.Close(); err != nil {
					t.Error(err)
				}
			}()
			// A stream that never ends would hang the check: the end of the network ends it, and the check fails.
			defer context.AfterFunc(ctx, func() { _ = env.Close() })()
			c.do(t, env)
		})
	}
}

// Spec is a clean link as the published matrix has it.
func Spec() sandbox.EnvSpec {
	return sandbox.EnvSpec{
		RunID: "conformance/probe/r1", Seed: strings.Repeat("00", 32), Port: 9000,
		Link: matrix.LinkSpec{MTU: 1500, Limit: 100000, Backend: link.BackendNFT, Topology: "lo"},
	}
}

// result is a finished probe.
type result struct {
	lines  []line
	stderr string
	exit   line
}

func (s Suite) start(t *testing.T, env sandbox.Env, p sandbox.ProcSpec, args ...string) sandbox.Process {
	t.Helper()
	p.Name, p.Path, p.Args = "server", s.Probe, append([]string{ProbeArg}, args...)
	proc, err := env.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return proc
}

// finish reads both streams to their end and waits.
func finish(t *testing.T, proc sandbox.Process) result {
	t.Helper()
	logs := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(proc.Stderr())
		logs <- b
	}()
	out, err := io.ReadAll(proc.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	r := result{stderr: string(<-logs)}
	if err := proc.Wait(); err != nil {
		t.Fatal(err)
	}
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		if len(sc.Bytes()) == 0 {
			continue // launch begins its record on a line of its own
		}
		l := line{raw: bytes.Clone(sc.Bytes())}
		if err := json.Unmarshal(l.raw, &l); err != nil {
			t.Fatalf("line %q: %v", sc.Text(), err)
		}
		r.lines = append(r.lines, l)
	}
	if len(r.lines) == 0 || r.lines[len(r.lines)-1].Type != "exit" {
		t.Fatalf("output %q does not end with an exit record; stderr %q", out, r.stderr)
	}
	r.exit = r.lines[len(r.lines)-1]
	return r
}

// awaitReady reads the probe's first record, so that it is known to run.
func awaitReady(t *testing.T, proc sandbox.Process) {
	t.Helper()
	buf := make([]byte, len(`{"type":"ready"`))
	if _, err := io.ReadFull(proc.Stdout(), buf); err != nil || string(buf) != `{"type":"ready"` {
		t.Fatalf("first record %q: %v", buf, err)
	}
	rest := make([]byte, 1)
	for rest[0] != '\n' {
		if _, err := proc.Stdout().Read(rest); err != nil {
			t.Fatal(err)
		}
	}
}

func (s Suite) output(t *testing.T, env sandbox.Env) {
	r := finish(t, s.start(t, env, sandbox.ProcSpec{}, "say", "hello"))
	if len(r.lines) != 2 || r.lines[0].Text != "hello" || r.stderr != "log: hello\n" {
		t.Errorf("records %v, stderr %q", r.lines, r.stderr)
	}
}

func (s Suite) exitCode(t *testing.T, env sandbox.Env) {
	for _, c := range []struct {
		arg  string
		want int
	}{{"0", 0}, {"3", 3}, {"127", 127}} {
		if r := finish(t, s.start(t, env, sandbox.ProcSpec{}, "exit", c.arg)); r.exit.Status != c.want || r.exit.Signal != 0 {
			t.Errorf("exit %s: record %s", c.arg, r.exit.raw)
		}
	}
}

func (s Suite) stop(t *testing.T, env sandbox.Env) {
	proc := s.start(t, env, sandbox.ProcSpec{StopTERM: deadline}, "hang")
	awaitReady(t, proc)
	if err := proc.Stop(); err != nil {
		t.Fatal(err)
	}
	if r := finish(t, proc); r.exit.Signal != int(unix.SIGTERM) {
		t.Errorf("exit record %s: want signal 15", r.exit.raw)
	}
	if err := proc.Stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func (s Suite) stopDeaf(t *testing.T, env sandbox.Env) {
	proc := s.start(t, env, sandbox.ProcSpec{StopTERM: time.Millisecond}, "deaf")
	awaitReady(t, proc)
	if err := proc.Stop(); err != nil {
		t.Fatal(err)
	}
	if r := finish(t, proc); r.exit.Signal != int(unix.SIGKILL) {
		t.Errorf("exit record %s: want signal 9", r.exit.raw)
	}
}

func (s Suite) kill(t *testing.T, env sandbox.Env) {
	proc := s.start(t, env, sandbox.ProcSpec{}, "deaf")
	awaitReady(t, proc)
	if err := proc.Kill(); err != nil {
		t.Fatal(err)
	}
	if r := finish(t, proc); r.exit.Signal != int(unix.SIGKILL) {
		t.Errorf("exit record %s: want signal 9", r.exit.raw)
	}
	if err := proc.Kill(); err != nil {
		t.Errorf("second kill: %v", err)
	}
}

func (s Suite) missing(t *testing.T, env sandbox.Env) {
	_, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "server", Path: "/does/not/exist"})
	var pe *sandbox.ProgramError
	if !errors.As(err, &pe) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Errorf("error %v: want one line of a *ProgramError that names the driver", err)
	}
}

// execFailure is a program that passes for executable and is none.
func (s Suite) execFailure(t *testing.T, env sandbox.Env) {
	path := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(path, []byte("junk"), 0o755); err != nil {
		t.Fatal(err)
	}
	proc, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "server", Path: path})
	if err != nil {
		return // a runtime may refuse it before
	}
	if r := finish(t, proc); r.exit.Status == 0 || !strings.Contains(string(r.exit.raw), `"exec_errno":8`) {
		t.Errorf("exit record %s: want exec_errno 8", r.exit.raw)
	}
}

func (s Suite) samples(t *testing.T, env sandbox.Env) {
	path := filepath.Join(t.TempDir(), "a.rtt")
	finish(t, s.start(t, env, sandbox.ProcSpec{Samples: path}, "samples", "TBRTT1"))
	if b, err := os.ReadFile(path); err != nil || string(b) != "TBRTT1" {
		t.Errorf("samples %q: %v", b, err)
	}
	none := filepath.Join(t.TempDir(), "b.rtt")
	finish(t, s.start(t, env, sandbox.ProcSpec{Samples: none}, "exit", "1"))
	if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("samples of a driver that wrote none: %v", err)
	}
}

func (s Suite) affinity(t *testing.T, env sandbox.Env) {
	p, err := s.Runtime.Probe(t.Context())
	if err != nil || len(p.CPUs) == 0 {
		t.Fatalf("probe: CPUs %v, %v", p.CPUs, err)
	}
	want := p.CPUs[len(p.CPUs)-1:]
	r := finish(t, s.start(t, env, sandbox.ProcSpec{CPUs: want}, "facts"))
	var f Facts
	if err := json.Unmarshal(r.lines[0].raw, &f); err != nil || !slices.Equal(f.Affinity, want) {
		t.Errorf("affinity %v: want %v (%v)", f.Affinity, want, err)
	}
}
