package sandbox

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// samplesPath is where a driver in a container writes its samples.
const samplesPath = resultsPath + "/samples.rtt"

// dockerProcess is one launch as the first process of a container.
type dockerProcess struct {
	env     *dockerEnv
	spec    ProcSpec
	box     *box
	stdout  *stream
	stderr  *stream
	last    lineHead      // of standard output: launch's exit record, or it did not get to it
	done    chan struct{} // closed when the container has ended and its output was copied
	lost    error         // the engine's word where it could not tell the end
	collect sync.Once
	err     error
}

// Start runs a driver under launch in a container of its own, which joins the holder's network.
func (e *dockerEnv) Start(ctx context.Context, spec ProcSpec) (Process, error) {
	program, ok := e.rt.opt.Programs[spec.Path]
	if !ok {
		return nil, &ProgramError{Role: "driver", Path: spec.Path, Fix: "build it with `bench images build` or check --driver", Err: errors.New("no image holds it")}
	}
	if err := e.open(); err != nil {
		return nil, err
	}
	b, err := e.rt.create(ctx, boxSpec{
		role: spec.Name, run: e.runID, image: program.Image, argv: boxArgv(spec, program.Path), cpus: spec.CPUs,
		holder: e.box.id, results: spec.Samples != "",
	})
	if err != nil {
		select {
		case <-e.gone: // the engine refuses to join what is gone; the holder's end is the reason
			return nil, e.exit
		default:
			return nil, err
		}
	}
	p := &dockerProcess{env: e, spec: spec, box: b, done: make(chan struct{})}
	if err := p.follow(); err != nil {
		return nil, errors.Join(err, e.rt.engine.remove(context.WithoutCancel(ctx), b.id))
	}
	return p, e.adopt(p)
}

// open says whether there still is a network to start in.
func (e *dockerEnv) open() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.gone:
		return e.exit
	default:
	}
	if e.closed {
		return fmt.Errorf("holder of %s: closed", e.runID)
	}
	return nil
}

// adopt enters the process, so that Close ends it; one that comes too late is ended here.
func (e *dockerEnv) adopt(p *dockerProcess) error {
	e.mu.Lock()
	late := e.closed
	if !late {
		e.procs = append(e.procs, p)
	}
	e.mu.Unlock()
	if !late {
		return nil
	}
	ctx, cancel := within(context.Background())
	defer cancel()
	err := e.rt.engine.remove(ctx, p.box.id)
	p.abandon()
	<-p.done
	return errors.Join(fmt.Errorf("holder of %s: closed", e.runID), err)
}

// boxArgv is launch's command line. CPUs are the container's cpuset; launch reports what the kernel made of it.
func boxArgv(spec ProcSpec, program string) []string {
	argv := []string{launchPath, "-nice", driverNice, "-nofile", fmt.Sprint(nofileCap), "--", program}
	return append(argv, driverArgs(spec, samplesPath)...)
}

// follow copies the container's output into pipes until its end. The goroutine ends with the container; Close sees to that.
func (p *dockerProcess) follow() error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("pipe: %w", err), outR.Close(), outW.Close())
	}
	p.stdout, p.stderr = newStream(outR), newStream(errR)
	go func() {
		defer close(p.done)
		_ = p.box.copyOutput(io.MultiWriter(&p.last, outW), errW) // a reader that is gone has seen enough
		outW.Close()
		errW.Close()
		ctx, cancel := within(context.Background())
		defer cancel()
		p.lost = p.box.ended(ctx)
		p.box.hangUp()
	}()
	return nil
}

// Stdout carries the records; it ends after launch's exit record.
func (p *dockerProcess) Stdout() io.Reader { return p.stdout }

// Stderr carries the driver's log.
func (p *dockerProcess) Stderr() io.Reader { return p.stderr }

// Container says what the engine said of the container; valid after Wait.
func (p *dockerProcess) Container() Container { return p.box.facts }

// Wait returns when the container has ended and the caller has read both streams to their end, and copies the samples file out of it.
// What the driver's end means is in its exit record; an error here means that there is none.
func (p *dockerProcess) Wait() error {
	<-p.done
	<-p.stdout.drained
	<-p.stderr.drained
	p.collect.Do(func() { p.err = p.finish() })
	return p.err
}

// holderGrace is how long the news of a holder's death may come after that of its drivers.
const holderGrace = 2 * time.Second

func (p *dockerProcess) finish() error {
	if !p.last.startsWith(`{"type":"exit"`) {
		select {
		case <-p.env.gone:
			return fmt.Errorf("%s: %w", p.spec.Name, p.env.exit)
		case <-time.After(holderGrace):
		}
		if p.lost != nil {
			return fmt.Errorf("%s: container: %w", p.spec.Name, p.lost)
		}
		return fmt.Errorf("%s: container ended without a word of launch: %s", p.spec.Name, p.box.facts.how())
	}
	if p.spec.Samples == "" {
		return nil
	}
	ctx, cancel := within(context.Background())
	defer cancel()
	if err := p.copySamples(ctx); err != nil {
		return fmt.Errorf("samples of %s: %w", p.spec.Name, err)
	}
	return nil
}

// copySamples takes the file out of the ended container and never overwrites.
func (p *dockerProcess) copySamples(ctx context.Context) error {
	res, err := p.env.rt.engine.api.CopyFromContainer(ctx, p.box.id, client.CopyFromContainerOptions{SourcePath: samplesPath})
	if cerrdefs.IsNotFound(err) {
		return nil // the driver failed before it wrote one; its records say so
	}
	if err != nil {
		return engineError("copying a file out of a container", err)
	}
	defer func() { _ = res.Content.Close() }()
	t := tar.NewReader(res.Content)
	h, err := t.Next()
	if err != nil {
		return engineError("copying a file out of a container", err)
	}
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("%s is not a file", samplesPath)
	}
	dst, err := os.OpenFile(p.spec.Samples, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, t)
	return errors.Join(err, dst.Close())
}

// Threads reads the driver's threads while it runs.
func (p *dockerProcess) Threads(ctx context.Context) ([]Thread, error) {
	rep, err := p.env.call(ctx, request{Op: opThreads, Box: p.box.id}, nil)
	return rep.Threads, err
}

// abandon closes what is still open on bench's side.
func (p *dockerProcess) abandon() {
	p.box.hangUp()
	p.stdout.close()
	p.stderr.close()
}

// lineHead keeps the beginning of the last whole line that was written to it.
type lineHead struct{ line, last []byte }

const headBytes = 32

func (l *lineHead) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, whole := bytes.Cut(rest, []byte{'\n'})
		l.line = append(l.line, part[:min(len(part), max(0, headBytes-len(l.line)))]...)
		if whole {
			l.last, l.line = append(l.last[:0], l.line...), l.line[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (l *lineHead) startsWith(s string) bool { return strings.HasPrefix(string(l.last), s) }
