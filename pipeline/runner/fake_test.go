package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"transportbench/pipeline/link"
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
