package sandbox

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// localEnv is bench's side of one holder in new namespaces.
type localEnv struct {
	*dialog
	rt  *Local
	cmd *exec.Cmd

	told   bool // the first report with the environment was given; Host is not called twice at once
	closed bool // Close was called: an end is expected; guarded by mu

	procs map[int]*localProcess
	early map[int]unix.WaitStatus // ends that came before start knew the pid
}

// start runs a holder in new namespaces; it has not set anything up until the first request is answered.
func (l *Local) start(runID string) (*localEnv, error) {
	ch, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	e := &localEnv{rt: l, dialog: newDialog(runID, ch), procs: map[int]*localProcess{}, early: map[int]unix.WaitStatus{}}
	e.news = e.ended
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
	e.end(err)
}

// ended tells a process of its end; mu is held.
func (e *localEnv) ended(rep reply) {
	if p, ok := e.procs[rep.Proc]; ok {
		p.ended(unix.WaitStatus(rep.Status))
		return
	}
	e.early[rep.Proc] = unix.WaitStatus(rep.Status)
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
