package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/link"
)

// dialog is bench's side of the conversation with one holder: requests, their replies and the holder's end.
type dialog struct {
	runID  string
	ch     messenger
	stderr tail
	gone   chan struct{} // closed when the holder and all inside have ended and every reply was read
	exit   error         // how the holder ended, valid after gone
	state  link.State    // after applyLink

	mu      sync.Mutex
	lastID  uint64
	pending map[uint64]chan reply
	news    func(reply) // gets replies that nobody asked for, with mu held; set before dispatch
}

func newDialog(runID string, ch messenger) *dialog {
	return &dialog{runID: runID, ch: ch, gone: make(chan struct{}), pending: map[uint64]chan reply{}}
}

// end says how the holder ended, once, after dispatch has returned.
func (d *dialog) end(err error) {
	if err == nil {
		err = errors.New("exit status 0")
	}
	d.exit = &HolderError{RunID: d.runID, Stderr: d.stderr.String(), Err: err}
	close(d.gone)
}

// dispatch hands replies to their callers and news to their receiver until the holder is gone.
func (d *dialog) dispatch() {
	for {
		msg, fds, err := d.ch.read()
		if err != nil {
			return
		}
		closeAll(fds) // a holder sends none
		var rep reply
		if err := json.Unmarshal(msg, &rep); err != nil {
			_, _ = d.stderr.Write([]byte("unreadable answer: " + err.Error()))
			_ = d.ch.close()
			return
		}
		d.deliver(rep)
	}
}

func (d *dialog) deliver(rep reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if rep.ID == 0 {
		if d.news != nil {
			d.news(rep)
		}
		return
	}
	if c, ok := d.pending[rep.ID]; ok {
		delete(d.pending, rep.ID)
		c <- rep // capacity 1, one reply a request
	}
}

// call sends one request and waits for its reply. files stay the caller's.
func (d *dialog) call(ctx context.Context, req request, files []*os.File) (reply, error) {
	answer := make(chan reply, 1)
	d.mu.Lock()
	d.lastID++
	req.ID = d.lastID
	d.pending[req.ID] = answer
	d.mu.Unlock()
	msg, err := json.Marshal(req)
	if err == nil {
		err = d.ch.write(msg, files)
	}
	if err != nil {
		d.forget(req.ID)
		return reply{}, d.explain(err)
	}
	select {
	case rep := <-answer:
		return rep, rep.Error.err()
	case <-d.gone:
		d.forget(req.ID)
		select { // the last reply may have come just before the end
		case rep := <-answer:
			return rep, rep.Error.err()
		default:
			return reply{}, d.exit
		}
	case <-ctx.Done():
		d.forget(req.ID)
		return reply{}, fmt.Errorf("holder of %s: %s: %w", d.runID, req.Op, context.Cause(ctx))
	}
}

func (d *dialog) forget(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.pending, id)
}

// explain turns a write error into the holder's last words where it is on its way out.
func (d *dialog) explain(err error) error {
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		<-d.gone
		return d.exit
	}
	return fmt.Errorf("holder of %s: %w", d.runID, err)
}

// applyLink makes the private network and applies the link in it.
func (d *dialog) applyLink(ctx context.Context, spec EnvSpec) error {
	rep, err := d.call(ctx, request{Op: opOpen, Open: &spec}, nil)
	if err != nil {
		return err
	}
	if rep.State == nil {
		return errors.New("holder: the answer to open has no link state")
	}
	d.state = *rep.State
	return nil
}

// Link returns what the kernel said after the link was applied.
func (d *dialog) Link() link.State { return d.state }

// Counters reads the running totals of the private network.
func (d *dialog) Counters(ctx context.Context) (link.Counters, error) {
	rep, err := d.call(ctx, request{Op: opCounters}, nil)
	if err != nil {
		return link.Counters{}, err
	}
	return *rep.Counters, nil
}
