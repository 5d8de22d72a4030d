//go:build linux

package sock

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asleep counts the threads of this process that sleep in ppoll, and waiters those that may. Each keeps one of the scheduler's
// processors until the runtime notices, which takes 20 us to 10 ms, so the last processor is only taken by the only Waiter: others
// would sit out that time with input in their sockets. Instead the goroutine parks in the runtime's own poller, which wakes up a
// little later but holds nothing.
var asleep, waiters atomic.Int32

// Waiter waits for sockets: for one directly, for several through epoll, and for a kick in both cases. Wait and Ready belong to one
// goroutine at a time.
type Waiter struct {
	Calls  int64
	procs  int32
	kick   int // eventfd
	epoll  int
	events [64]unix.EpollEvent
	fds    [2]unix.PollFd
	timer  unix.Timespec
	parks  parker
}

// NewWaiter returns a Waiter without sockets.
func NewWaiter() (*Waiter, error) {
	w := &Waiter{epoll: -1, procs: int32(runtime.GOMAXPROCS(0))}
	var err error
	if w.kick, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	waiters.Add(1)
	return w, nil
}

// Add adds a socket to the epoll set; data comes back from Event. It makes the set when there is none.
func (w *Waiter) Add(fd int, data int32) error {
	if err := w.Prepare(); err != nil {
		return err
	}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: data}); err != nil {
		return fmt.Errorf("epoll: add: %w", err)
	}
	return nil
}

// Prepare makes the epoll set if there is none.
func (w *Waiter) Prepare() (err error) {
	if w.epoll >= 0 {
		return nil
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, w.kick, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: -1}); err != nil {
		Close(fd)
		return fmt.Errorf("epoll: add eventfd: %w", err)
	}
	w.epoll = fd
	return nil
}

// Remove takes a socket out of the epoll set.
func (w *Waiter) Remove(fd int) {
	_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, fd, nil) // closing the socket removes it as well
}

// Ready looks for sockets with data without waiting, into the list that Event reads. Only with epoll.
func (w *Waiter) Ready() int {
	if w.epoll < 0 {
		return 0
	}
	w.Calls++
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.epoll), uintptr(unsafe.Pointer(&w.events[0])), uintptr(len(w.events)), 0, 0, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}

// Event is the data of the i-th socket of the last Ready; -1 for a kick, which is taken back.
func (w *Waiter) Event(i int) int32 {
	if w.events[i].Fd == -1 {
		w.unkick()
	}
	return w.events[i].Fd
}

// Wait waits until something is there on fd, or on the sockets of the epoll set if fd is negative, at most ns; a negative ns waits
// for ever. It reads nothing but kicks, and may return early.
func (w *Waiter) Wait(fd int, ns int64) {
	w.Calls++
	if fd < 0 {
		fd = w.epoll
	}
	if n := asleep.Add(1); n < w.procs || n == 1 && waiters.Load() == 1 || fd < 0 {
		w.sleep(fd, ns)
		asleep.Add(-1)
		return
	}
	asleep.Add(-1)
	w.parks.park(fd, fd == w.epoll, ns)
	w.unkick()
}

// sleep waits in the kernel, with the thread.
func (w *Waiter) sleep(fd int, ns int64) {
	var at unsafe.Pointer
	if ns >= 0 {
		w.timer = unix.NsecToTimespec(ns)
		at = unsafe.Pointer(&w.timer)
	}
	w.fds = [2]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(w.kick), Events: unix.POLLIN}}
	_, _, e := unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&w.fds[0])), 2, uintptr(at), 0, 0, 0)
	if e == 0 && w.fds[1].Revents != 0 {
		w.unkick()
	}
}

// Kick ends a Wait, the present one or the next. It may be called from any goroutine.
func (w *Waiter) Kick() {
	var one [8]byte
	one[0] = 1
	_, _, _ = unix.RawSyscall(unix.SYS_WRITE, uintptr(w.kick), uintptr(unsafe.Pointer(&one[0])), 8)
	w.parks.interrupt()
}

func (w *Waiter) unkick() {
	var b [8]byte
	_, _, _ = unix.RawSyscall(unix.SYS_READ, uintptr(w.kick), uintptr(unsafe.Pointer(&b[0])), 8)
}

// Forget must be called before fd is closed, if Wait was given it. Nobody may be waiting.
func (w *Waiter) Forget(fd int) {
	if w.parks.of == fd && !w.parks.epoll {
		w.parks.close()
	}
}

// Close closes the Waiter's own descriptors.
func (w *Waiter) Close() {
	waiters.Add(-1)
	w.parks.close()
	Close(w.kick)
	if w.epoll >= 0 {
		Close(w.epoll)
	}
}

// waitWritable waits up to 2 ms for room in the send buffer.
func waitWritable(fd int) {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLOUT}
	ts := unix.NsecToTimespec(2_000_000)
	_, _, _ = unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}
