package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

// fakeRuntime runs scripted drivers inside the test. It has a link that does what it is told.
type fakeRuntime struct {
	script  func(cfg wire.Config, role string) behaviour // nil result: the honest driver
	openErr func(runID string) error
	state   func(s *link.State)
	delta   func(c *link.Counters)

	mu   sync.Mutex
	runs map[string]int // opened, by run id
	open int            // not closed yet
}

// behaviour is what a driver does; it returns its exit status. A killed driver must return when killed is closed.
type behaviour func(d *fakeProc) int

func (f *fakeRuntime) Name() string                                 { return "fake" }
func (f *fakeRuntime) Probe(context.Context) (sandbox.Probe, error) { return sandbox.Probe{}, nil }
func (f *fakeRuntime) Close() error                                 { return nil }

func (f *fakeRuntime) Open(_ context.Context, spec sandbox.EnvSpec) (sandbox.Env, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.runs == nil {
		f.runs = map[string]int{}
	}
	f.runs[spec.RunID]++
	if f.openErr != nil {
		if err := f.openErr(spec.RunID); err != nil {
			return nil, err
		}
	}
	f.open++
	return &fakeEnv{rt: f, spec: spec}, nil
}

type fakeEnv struct {
	rt    *fakeRuntime
	spec  sandbox.EnvSpec
	procs []*fakeProc
	reads int
}

func (e *fakeEnv) Link() link.State {
	l := e.spec.Link
	s := link.State{Backend: l.Backend, MTU: l.MTU, CongestionControl: "cubic", RTOMinNS: l.RTOMinNS, LossPPM: l.LossPPM, DelayNS: l.DelayNS}
	if e.rt.state != nil {
		e.rt.state(&s)
	}
	return s
}

func (e *fakeEnv) Counters(context.Context) (link.Counters, error) {
	e.reads++
	c := link.Counters{Directions: []link.Direction{{Name: "to-server"}, {Name: "to-client"}}}
	if e.reads > 1 {
		for i := range c.Directions {
			c.Directions[i].Seen = 100_000
			c.Directions[i].Dropped = int64(e.spec.Link.LossPPM / 10)
		}
		if e.rt.delta != nil {
			e.rt.delta(&c)
		}
	}
	return c, nil
}

func (e *fakeEnv) Host(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"fake":true}`), nil
}

func (e *fakeEnv) Close() error {
	for _, p := range e.procs {
		_ = p.Kill()
	}
	e.rt.mu.Lock()
	defer e.rt.mu.Unlock()
	e.rt.open--
	return nil
}

// fakeProc is a scripted driver under a scripted launch.
type fakeProc struct {
	cfg            wire.Config
	spec           sandbox.ProcSpec
	stdout, stderr *io.PipeReader
	out, log       *io.PipeWriter
	term, killed   chan struct{}
	ended          chan struct{}
	termOnce       sync.Once
	killOnce       sync.Once
	exit           wire.Exit
	noExit         bool // launch itself dies
	ignoreTERM     bool
}

func (e *fakeEnv) Start(_ context.Context, spec sandbox.ProcSpec) (sandbox.Process, error) {
	cfg, err := wire.Parse(spec.Args, io.Discard)
	if err != nil && spec.Name != "floor" && spec.Name != "describe" {
		return nil, fmt.Errorf("flags: %w", err)
	}
	p := &fakeProc{cfg: cfg, spec: spec, term: make(chan struct{}), killed: make(chan struct{}), ended: make(chan struct{})}
	p.stdout, p.out = io.Pipe()
	p.stderr, p.log = io.Pipe()
	cpus := spec.CPUs
	if cpus == nil {
		cpus = []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	p.exit = wire.Exit{Type: wire.TypeExit, Argv: spec.Args, MaxRSSKiB: 2048, NoFileSoft: maxNoFile, NoFileHard: 1 << 20, Nice: wantNice, Affinity: cpus}
	run := e.rt.behaviour(p)
	e.procs = append(e.procs, p)
	go func() { // ends when the behaviour does, or at Kill
		defer close(p.ended)
		p.exit.Status = run(p)
		if !p.noExit {
			b, _ := json.Marshal(p.exit)
			_, _ = fmt.Fprintf(p.out, "\n%s\n", b)
		}
		_ = p.out.Close()
		_ = p.log.Close()
	}()
	return p, nil
}

func (f *fakeRuntime) behaviour(p *fakeProc) behaviour {
	if f.script != nil {
		if b := f.script(p.cfg, p.spec.Name); b != nil {
			return b
		}
	}
	switch p.spec.Name {
	case "server":
		return honestServer
	case "client":
		return honestClient
	}
	return func(*fakeProc) int { return 2 } // floor, describe
}

func (p *fakeProc) Stdout() io.Reader { return p.stdout }
func (p *fakeProc) Stderr() io.Reader { return p.stderr }

func (p *fakeProc) Stop() error {
	p.termOnce.Do(func() { close(p.term) })
	if !p.ignoreTERM {
		return nil
	}
	t := time.NewTimer(p.spec.StopTERM)
	defer t.Stop()
	select {
	case <-p.ended:
		return nil
	case <-t.C:
		return p.Kill()
	}
}

func (p *fakeProc) Kill() error {
	p.killOnce.Do(func() {
		close(p.killed)
		_ = p.out.CloseWithError(io.EOF) // a killed process writes nothing more
		_ = p.log.CloseWithError(io.EOF)
	})
	return nil
}

func (p *fakeProc) Wait() error {
	<-p.ended
	return nil
}

// say writes one record.
func (p *fakeProc) say(r any) {
	b, _ := json.Marshal(r)
	_, _ = fmt.Fprintf(p.out, "%s\n", b)
}

func (p *fakeProc) hello() {
	p.say(wire.Hello{Type: wire.TypeHello, Contract: 1, PID: 7, Settings: wire.Settings{Affinity: p.exit.Affinity, Nice: wantNice, NoFile: maxNoFile, API: p.cfg.API, Policy: p.cfg.Policy}})
}

func (p *fakeProc) ready() { p.say(wire.Ready{Type: wire.TypeReady, Addr: p.cfg.Addr.String()}) }

// untilTerm waits for SIGTERM or SIGKILL.
func (p *fakeProc) untilTerm() {
	select {
	case <-p.term:
	case <-p.killed:
	}
}

func honestServer(p *fakeProc) int {
	p.hello()
	p.ready()
	p.untilTerm()
	n := int64(p.cfg.Connections * (p.cfg.Warmup + p.cfg.Samples + p.cfg.Messages))
	p.say(wire.Done{Type: wire.TypeDone, Connections: int64(p.cfg.Connections), Messages: n})
	return 0
}

func (p *fakeProc) result() wire.Result {
	c := p.cfg
	r := wire.Result{
		Type: wire.TypeResult, ElapsedNS: 2_000_000_000, Messages: int64(c.Connections * c.Messages),
		Bytes: int64(c.Connections * c.Messages * c.Payload), Verified: int64(c.Connections * (c.Warmup + c.Samples + c.Messages)),
	}
	for range c.Connections {
		r.PerConn = append(r.PerConn, wire.ConnResult{BurstNS: 1_900_000_000, RTTSumNS: 1_800_000_000 * int64(c.Window)})
	}
	n, q := c.Connections*c.Samples, &r.Sparse
	if c.Suite == wire.SuiteLoaded {
		n, q = c.Connections*c.Messages, &r.Loaded
	}
	if n > 0 {
		*q = &wire.Quantiles{N: n, P50NS: 1000, P95NS: 1000, P99NS: 1000}
	}
	return r
}

func (p *fakeProc) samples(n int) {
	kind := wire.SamplesSparse
	if p.cfg.Suite == wire.SuiteLoaded {
		kind = wire.SamplesLoaded
	}
	ns := make([]int64, n)
	for i := range ns {
		ns[i] = 1000
	}
	_ = wire.WriteSamples(p.spec.Samples, kind, p.cfg.Connections, ns)
}

func (p *fakeProc) begin() {
	p.hello()
	p.say(wire.Connected{Type: wire.TypeConnected, N: p.cfg.Connections, SetupNS: 5, Settings: &wire.Settings{CongestionControl: "cubic"}})
	p.say(wire.Start{Type: wire.TypeStart, MonoNS: 1})
}

func honestClient(p *fakeProc) int { return clientSaying(func(*wire.Result) {})(p) }

// clientSaying is honest but for one change of its result.
func clientSaying(change func(r *wire.Result)) behaviour {
	return func(p *fakeProc) int {
		p.begin()
		r := p.result()
		change(&r)
		n := p.cfg.Connections * p.cfg.Samples
		if p.cfg.Suite == wire.SuiteLoaded {
			n = p.cfg.Connections * p.cfg.Messages
		}
		p.samples(n)
		p.say(r)
		return 0
	}
}

// testPlan has one profile of each suite and two columns; link is the first one's.
func testPlan(t testing.TB, repetitions int, change func(p *matrix.Profile)) *matrix.Plan {
	t.Helper()
	plan := &matrix.Plan{Matrix: "test", Kind: "custom", Seed: "seed", Hash: "plan-hash", NoFile: 64, Deadlines: matrix.Deadlines{
		Client: 450 * time.Second, ServerExtra: 10 * time.Second, Ready: 10 * time.Second, Stop: 5 * time.Second,
	}}
	for i, suite := range []string{wire.SuiteSingle, wire.SuiteLoaded} {
		p := matrix.Profile{
			ID: fmt.Sprintf("%s-800B-%dc-l0-d0", suite, 1+3*i), Suite: suite, PayloadBytes: 800, Connections: 1 + 3*i, Messages: 50, Warmup: 5, Samples: 10,
			Window: 16, Listeners: 1, Placement: matrix.PlacementSplit, Workers: 4, Deadline: 450 * time.Second,
			Link: matrix.LinkSpec{MTU: 1500, Backend: "nft", Topology: "lo"},
		}
		if suite == wire.SuiteLoaded {
			p.Samples = 0
		}
		if change != nil {
			change(&p)
		}
		for rep := range repetitions {
			for _, v := range []string{"tcp", "other"} {
				plan.Runs = append(plan.Runs, matrix.Run{
					ID: fmt.Sprintf("%s/%s/r%d", p.ID, v, rep+1), Index: len(plan.Runs), Block: i*repetitions + rep, Profile: p, Repetition: rep + 1,
					Variant: matrix.Variant{Name: v, Driver: v, API: wire.APISend, Policy: wire.PolicyOff, GSO: matrix.GSOOff, BuffersOn: matrix.BuffersBoth},
				})
			}
		}
	}
	return plan
}

// tempDir is in memory where the system has such a folder: journals sync every line.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "runner-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
