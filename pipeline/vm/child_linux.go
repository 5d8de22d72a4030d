package vm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// runJob starts the command, passes its output on and reaps everything until the command has ended. A stop from the host
// becomes an interrupt of the command.
func runJob(w *wire, j Job, heard <-chan frameKind) exit {
	p, drained, err := startJob(w, j)
	if err != nil {
		return exit{Error: err.Error()}
	}
	ended := make(chan unix.WaitStatus, 1)
	go func() { ended <- reapUntil(p.Pid) }() // ends with the command
	for {
		select {
		case k := <-heard:
			if k == frameStop {
				_ = p.Signal(unix.SIGINT) // a command that has just ended needs none
			}
		case status := <-ended:
			_ = unix.Kill(-1, unix.SIGKILL) // what the command left behind would hold its pipes open
			drained.Wait()
			return exitOf(status)
		}
	}
}

func exitOf(s unix.WaitStatus) exit {
	if s.Signaled() {
		return exit{Code: 128 + int(s.Signal()), Signal: s.Signal().String()}
	}
	return exit{Code: s.ExitStatus()}
}

// startJob uses os.StartProcess and not os/exec: PID 1 reaps every process itself, and two waiters would take each other's.
func startJob(w *wire, j Job) (*os.Process, *sync.WaitGroup, error) {
	if len(j.Args) == 0 {
		return nil, nil, errors.New("command: none given")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	files := []*os.File{null}
	var drained sync.WaitGroup
	for _, k := range []frameKind{frameStdout, frameStderr} {
		r, theirs, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		defer theirs.Close()
		files = append(files, theirs)
		drained.Go(func() { // ends when every process that has the pipe is gone
			_, _ = io.Copy(frameWriter{w, k}, r)
			r.Close()
		})
	}
	p, err := os.StartProcess(j.Args[0], j.Args, &os.ProcAttr{Dir: "/", Env: j.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return nil, nil, fmt.Errorf("command: %w", err)
	}
	return p, &drained, nil
}

// reapUntil waits for children, adopted ones too, until pid has ended.
func reapUntil(pid int) unix.WaitStatus {
	for {
		var s unix.WaitStatus
		got, err := unix.Wait4(-1, &s, 0, nil)
		if got == pid && (s.Exited() || s.Signaled()) {
			return s
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return s // no child is left: somebody else reaped it
		}
	}
}
