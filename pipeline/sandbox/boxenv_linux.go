package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// dockerEnv is bench's side of one holder in a container.
type dockerEnv struct {
	*dialog
	rt   *Docker
	box  *box
	told bool // the first report with the environment was given; Host is not called twice at once

	closed bool             // guarded by mu
	procs  []*dockerProcess // guarded by mu
}

// start runs a holder; it has not set anything up until the first request is answered.
func (d *Docker) start(ctx context.Context, runID string) (*dockerEnv, error) {
	b, err := d.create(ctx, boxSpec{
		role: roleHolder, run: runID, image: d.opt.Holder, argv: []string{benchPath, holdWords[0], holdWords[1]},
	})
	if err != nil {
		return nil, err
	}
	out, pipe := io.Pipe()
	e := &dockerEnv{rt: d, box: b, dialog: newDialog(runID, newStdio(out, b.conn.Conn, b.conn.Conn.Close))}
	go e.supervise(out, pipe) // ends when the holder has ended or the engine is gone
	return e, nil
}

// supervise reads what the holder says until its end.
func (e *dockerEnv) supervise(out *io.PipeReader, pipe *io.PipeWriter) {
	copied := make(chan struct{})
	go func() { // ends with the connection
		defer close(copied)
		_ = e.box.copyOutput(pipe, &e.stderr)
		_ = pipe.Close()
	}()
	e.dispatch()
	_ = out.Close() // dispatch may have given up on an unreadable answer
	<-copied
	ctx, cancel := within(context.Background())
	defer cancel()
	err := e.box.ended(ctx)
	if err == nil {
		err = errors.New(e.box.facts.how())
	}
	e.end(err)
}

// Host returns a host.Report, all of it read where the drivers run.
func (e *dockerEnv) Host(ctx context.Context) (json.RawMessage, error) {
	rep, err := e.call(ctx, request{Op: opHost, Full: !e.told}, nil)
	if err != nil {
		return nil, err
	}
	e.told = true
	return json.Marshal(rep.Host)
}

// Close ends everything in the private network and removes its containers. It is safe to call it twice.
func (e *dockerEnv) Close() error {
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	procs := e.procs
	e.mu.Unlock()
	if !first {
		<-e.gone
		return nil
	}
	ctx, cancel := within(context.Background())
	defer cancel()
	// The end of PID 1 ends every process of every container of the run at once.
	errs := make([]error, len(procs)+1)
	errs[0] = e.box.kill(ctx, "KILL")
	var all sync.WaitGroup
	for i, p := range procs {
		all.Go(func() {
			errs[i+1] = e.rt.engine.remove(ctx, p.box.id)
			p.abandon()
			<-p.done
		})
	}
	all.Wait()
	err := errors.Join(append(errs, e.rt.engine.remove(ctx, e.box.id))...)
	e.box.hangUp()
	<-e.gone
	return err
}
