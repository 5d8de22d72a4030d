package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// localProcess is one launch in a holder's namespaces.
type localProcess struct {
	env      *localEnv
	spec     ProcSpec
	pid      int    // launch, in the holder's namespace
	samples  string // where the driver writes them; empty: none wanted
	stdin    *os.File
	stdout   *stream
	stderr   *stream
	done     chan struct{} // closed when launch was reaped
	status   unix.WaitStatus
	collect  sync.Once
	collectE error
}

// Start runs a driver under launch. Its output flows through pipes of its own, not through the holder.
func (e *localEnv) Start(ctx context.Context, spec ProcSpec) (Process, error) {
	if err := executable("driver", spec.Path, "build it with `bench drivers build` or check --driver"); err != nil {
		return nil, err
	}
	p := &localProcess{env: e, spec: spec, done: make(chan struct{})}
	argv, err := p.argv()
	if err != nil {
		return nil, err
	}
	theirs, err := p.pipes()
	if err != nil {
		return nil, err
	}
	rep, err := e.call(ctx, request{Op: opStart, Start: &startRequest{Argv: argv}}, theirs)
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		p.abandon()
		return nil, err
	}
	p.pid = rep.Proc
	e.adopt(p)
	return p, nil
}

// adopt enters the process in the table and gives it the end that may have been announced already.
func (e *localEnv) adopt(p *localProcess) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.procs[p.pid] = p
	if ws, ok := e.early[p.pid]; ok {
		delete(e.early, p.pid)
		p.ended(ws)
	}
}

// argv is launch's command line. The samples file lies in the runtime's own folder until Wait moves it: a driver has no
// capabilities and need not be able to write where the user's results go.
func (p *localProcess) argv() ([]string, error) {
	argv := []string{p.env.rt.launch, "-nice", driverNice, "-nofile", fmt.Sprint(nofileCap)}
	if p.spec.CPUs != nil {
		argv = append(argv, "-cpus", FormatCPUList(p.spec.CPUs))
	}
	if p.spec.Samples != "" {
		var err error
		if p.samples, err = p.env.rt.results.path(); err != nil {
			return nil, err
		}
	}
	return append(append(argv, "--", p.spec.Path), driverArgs(p.spec, p.samples)...), nil
}

// pipes makes the standard streams and returns the driver's ends, which the caller closes.
func (p *localProcess) pipes() ([]*os.File, error) {
	var theirs, ours []*os.File
	for i := range maxFDs {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range append(theirs, ours...) {
				f.Close()
			}
			return nil, fmt.Errorf("pipe: %w", err)
		}
		if i == 0 {
			r, w = w, r
		}
		theirs, ours = append(theirs, w), append(ours, r)
	}
	p.stdin, p.stdout, p.stderr = ours[0], newStream(ours[1]), newStream(ours[2])
	return theirs, nil
}

// Stdout carries the records; it ends after launch's exit record.
func (p *localProcess) Stdout() io.Reader { return p.stdout }

// Stderr carries the driver's log.
func (p *localProcess) Stderr() io.Reader { return p.stderr }

// Wait returns when launch has ended and the caller has read both streams to their end, and moves the samples file to
// ProcSpec.Samples. What the driver's end means is in its exit record; an error here means that there is none.
func (p *localProcess) Wait() error {
	select {
	case <-p.done:
	case <-p.env.gone:
		select {
		case <-p.done:
		default:
			return fmt.Errorf("%s: %w", p.spec.Name, p.env.exit)
		}
	}
	<-p.stdout.drained
	<-p.stderr.drained
	p.collect.Do(func() {
		p.stdin.Close()
		p.collectE = p.moveSamples()
	})
	return p.collectE
}

func (p *localProcess) moveSamples() error {
	if p.samples == "" {
		return nil
	}
	err := moveFile(p.samples, p.spec.Samples)
	if errors.Is(err, os.ErrNotExist) {
		if _, statErr := os.Stat(p.samples); statErr != nil {
			return nil // the driver failed before it wrote one; its records say so
		}
	}
	if err != nil {
		return fmt.Errorf("samples of %s: %w", p.spec.Name, err)
	}
	return nil
}

// Stop asks the driver to end and kills it after ProcSpec.StopTERM. It returns when launch is gone or was killed.
func (p *localProcess) Stop() error {
	if err := p.request(request{Op: opSignal, Signal: int(unix.SIGTERM)}); err != nil {
		return err
	}
	return killLate(p.spec, p.done, p.env.gone, p.Kill)
}

// Kill ends the driver's process group at once.
func (p *localProcess) Kill() error { return p.request(request{Op: opKill}) }

// Threads reads the driver's threads while it runs.
func (p *localProcess) Threads(ctx context.Context) ([]Thread, error) {
	rep, err := p.env.call(ctx, request{Op: opThreads, Proc: p.pid}, nil)
	return rep.Threads, err
}

// request sends a signal request; a process that has ended needs none.
func (p *localProcess) request(req request) error {
	select {
	case <-p.done:
		return nil
	case <-p.env.gone:
		return nil
	default:
	}
	req.Proc = p.pid
	_, err := p.env.call(context.Background(), req, nil)
	select {
	case <-p.done: // it ended in between
		return nil
	case <-p.env.gone:
		return nil
	default:
		return err
	}
}

// ended is called once, with launch's wait status.
func (p *localProcess) ended(ws unix.WaitStatus) {
	p.status = ws
	close(p.done)
}

// abandon closes what is still open on bench's side.
func (p *localProcess) abandon() {
	p.stdin.Close()
	p.stdout.close()
	p.stderr.close()
	if p.samples != "" {
		_ = os.Remove(p.samples)
	}
}
