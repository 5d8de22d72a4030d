package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/link"
)

// localEnv is bench's side of one holder.
type localEnv struct {
	rt    *Local
	runID string
	ch    *channel
	cmd   *exec.Cmd
	state link.State

	told bool // the first report with the environment was given; Host is not called twice at once

	stderr tail
	gone   chan struct{} // closed when the holder and all inside have ended and every reply was read
	exit   error         // how the holder ended, valid after gone
	closed bool          // Close was called: an end is expected

	mu      sync.Mutex
	lastID  uint64
	pending map[uint64]chan reply
	procs   map[int]*localProcess
	early   map[int]unix.WaitStatus // ends that came before start knew the pid
}

// start runs a holder in new namespaces; it has not set anything up until the first request is answered.
func (l *Local) start(runID string) (*localEnv, error) {
	ch, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	e := &localEnv{
		rt: l, runID: runID, ch: ch, gone: make(chan struct{}),
		pending: map[uint64]chan reply{}, procs: map[int]*localProcess{}, early: map[int]unix.WaitStatus{},
	}
	e.cmd = holderCommand(theirs, &e.stderr)
	started := make(chan error)
	go e.supervise(started) // ends when the holder has ended
	err = <-started
	theirs.Close()
	if err != nil {
		_ = ch.close()
		return nil, diagnoseStart(err)
	}
	return e, nil
}

// holderCommand re-executes this program. Its session is its own, so that Ctrl-C at the terminal reaches bench alone.
func holderCommand(socket *os.File, stderr *tail) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", HolderArg)
	cmd.Args[0] = "bench"
	cmd.Dir = "/"
	cmd.Env = []string{}
	cmd.Stderr = stderr
	cmd.ExtraFiles = []*os.File{socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:    true,
		Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	return cmd
}

// supervise starts the holder and waits for it on one locked thread: PR_SET_PDEATHSIG means the death of the thread that
// forked, so that thread has to live as long as the holder.
func (e *localEnv) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := e.cmd.Start(); err != nil {
		started <- err
		return
	}
	read := make(chan struct{})
	go func() { // ends when the holder's end of the socket is closed
		defer close(read)
		e.dispatch()
	}()
	started <- nil
	err := e.cmd.Wait()
	<-read
	if err == nil {
		err = errors.New("exit status 0")
	}
	e.exit = &HolderError{RunID: e.runID, Stderr: e.stderr.String(), Err: err}
	close(e.gone)
}

// dispatch hands replies to their callers and ends to their processes until the holder is gone.
func (e *localEnv) dispatch() {
	buf := make([]byte, maxMessage)
	for {
		msg, fds, err := e.ch.read(buf)
		if err != nil {
			return
		}
		closeAll(fds) // a holder sends none
		var rep reply
		if err := json.Unmarshal(msg, &rep); err != nil {
			_, _ = e.stderr.Write([]byte("unreadable answer: " + err.Error()))
			_ = e.ch.close()
			return
		}
		e.deliver(rep)
	}
}

func (e *localEnv) deliver(rep reply) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if rep.ID != 0 {
		if c, ok := e.pending[rep.ID]; ok {
			delete(e.pending, rep.ID)
			c <- rep // capacity 1, one reply a request
		}
		return
	}
	if p, ok := e.procs[rep.Proc]; ok {
		p.ended(unix.WaitStatus(rep.Status))
		return
	}
	e.early[rep.Proc] = unix.WaitStatus(rep.Status)
}

// call sends one request and waits for its reply. files stay the caller's.
func (e *localEnv) call(ctx context.Context, req request, files []*os.File) (reply, error) {
	answer := make(chan reply, 1)
	e.mu.Lock()
	e.lastID++
	req.ID = e.lastID
	e.pending[req.ID] = answer
	e.mu.Unlock()
	msg, err := json.Marshal(req)
	if err == nil {
		err = e.ch.write(msg, files)
	}
	if err != nil {
		e.forget(req.ID)
		return reply{}, e.explain(err)
	}
	select {
	case rep := <-answer:
		return rep, rep.Error.err()
	case <-e.gone:
		e.forget(req.ID)
		select { // the last reply may have come just before the end
		case rep := <-answer:
			return rep, rep.Error.err()
		default:
			return reply{}, e.exit
		}
	case <-ctx.Done():
		e.forget(req.ID)
		return reply{}, fmt.Errorf("holder of %s: %s: %w", e.runID, req.Op, context.Cause(ctx))
	}
}

func (e *localEnv) forget(id uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.pending, id)
}

// explain turns a write error into the holder's last words where it is on its way out.
func (e *localEnv) explain(err error) error {
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		<-e.gone
		return e.exit
	}
	return fmt.Errorf("holder of %s: %w", e.runID, err)
}

// Link returns what the kernel said after the link was applied.
func (e *localEnv) Link() link.State { return e.state }

// Counters reads the running totals of the private network.
func (e *localEnv) Counters(ctx context.Context) (link.Counters, error) {
	rep, err := e.call(ctx, request{Op: opCounters}, nil)
	if err != nil {
		return link.Counters{}, err
	}
	return *rep.Counters, nil
}

// Close ends everything in the private network and waits for it. It is safe to call it twice.
func (e *localEnv) Close() error {
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	procs := make([]*localProcess, 0, len(e.procs))
	for _, p := range e.procs {
		procs = append(procs, p)
	}
	e.mu.Unlock()
	if first {
		// The death of PID 1 ends the namespace at once; the kernel is done with all of it when Wait returns.
		_ = e.cmd.Process.Kill()
	}
	<-e.gone
	if first {
		_ = e.ch.close()
		for _, p := range procs {
			p.abandon()
		}
	}
	return nil
}
