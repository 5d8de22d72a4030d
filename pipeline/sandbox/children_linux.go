package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// children are the launch processes that the holder has started and not yet reaped, by pid.
type children struct {
	mu   sync.Mutex
	live map[int]bool
}

func newChildren() *children { return &children{live: map[int]bool{}} }

// start runs launch with the three descriptors as its standard streams and closes them here.
func (h *holder) start(req *startRequest, fds []int) reply {
	defer closeAll(fds)
	if req == nil || len(req.Argv) == 0 || len(fds) != maxFDs {
		return failed(errors.New("start: want an argument list and three descriptors"))
	}
	pid, err := h.children.fork(req.Argv, fds)
	if err != nil {
		return failed(fmt.Errorf("launch %s: %w", req.Argv[0], err))
	}
	return reply{Proc: pid}
}

// fork holds the lock over the fork, so that the reaper cannot meet a pid that is not in the table yet.
func (c *children) fork(argv []string, fds []int) (pid int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	attr := &syscall.ProcAttr{
		Dir: "/", Env: []string{},
		Files: []uintptr{uintptr(fds[0]), uintptr(fds[1]), uintptr(fds[2])},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	done := make(chan struct{})
	go func() { // ends after the fork, and its thread with it
		defer close(done)
		runtime.LockOSThread() // never unlocked: this thread has given its rights away
		if err = dropRights(); err == nil {
			pid, err = syscall.ForkExec(argv[0], argv, attr)
		}
	}()
	<-done
	if err == nil {
		c.live[pid] = true
	}
	return pid, err
}

// dropRights takes from the calling thread, and so from what it starts, every way to a capability: drivers could
// otherwise change the link they are measured on (SO_RCVBUFFORCE, routes, qdisc), being root of the namespace.
func dropRights() error {
	const noRoot = 1<<0 | 1<<1 | 1<<2 | 1<<3 // SECBIT_NOROOT, SECBIT_NO_SETUID_FIXUP and their locks, linux/securebits.h
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil {
		return fmt.Errorf("secure bits: %w", err)
	}
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && c > 0 {
			break // past the last capability of this kernel
		}
		if err != nil {
			return fmt.Errorf("capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	return nil
}

// reap collects every child, its own and the orphans that fall to PID 1, and tells bench of the former.
func (h *holder) reap(sigchld <-chan os.Signal) {
	for range sigchld {
		for {
			var ws unix.WaitStatus
			pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || pid == 0 {
				break
			}
			launch := h.children.forget(pid)
			h.children.sweep() // what outlived its launch holds the driver's pipes open
			if launch {
				h.announce(pid, ws)
			}
		}
	}
}

func (c *children) forget(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.live[pid]
	delete(c.live, pid)
	return was
}

// sweep kills the orphans of drivers that left their process group: children of PID 1 that are no launch. Their own
// children become orphans in turn and meet the next call.
func (c *children) sweep() {
	kids, err := childrenOf(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && len(c.live) == 0 {
		_ = unix.Kill(-1, unix.SIGKILL) // all but PID 1: without a /proc nobody can be picked out, and nobody is needed
	}
	for _, pid := range kids {
		if !c.live[pid] {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
		}
	}
}

func (c *children) pids() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.live))
}

func (h *holder) announce(pid int, ws unix.WaitStatus) {
	msg, err := json.Marshal(reply{Proc: pid, Status: int(ws)})
	if err != nil {
		return
	}
	// An error means that bench is gone; serve sees that too and ends the process.
	_ = h.ch.write(msg, nil)
}
