//go:build linux

package sock

import (
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// parker waits for a descriptor in the runtime's poller, through a duplicate that the runtime owns.
type parker struct {
	mu     sync.Mutex // guards file and kicked against Kick
	file   *os.File
	kicked bool

	raw   syscall.RawConn
	of    int // descriptor that file duplicates
	until time.Time
	look  func(fd uintptr) bool
	epoll bool
	pfd   unix.PollFd
	zero  unix.Timespec
}

// park returns when fd is readable, after ns, or when interrupted.
func (p *parker) park(fd int, epoll bool, ns int64) {
	if !p.open(fd, epoll) {
		return
	}
	want := time.Time{}
	if ns >= 0 {
		want = time.Now().Add(time.Duration(ns))
	}
	p.mu.Lock()
	if p.kicked {
		p.kicked, p.until = false, want
		_ = p.file.SetReadDeadline(want) // it was set to the past by interrupt
		p.mu.Unlock()
		return
	}
	if p.until.IsZero() && !want.IsZero() || want.Before(p.until) || !p.until.After(time.Now()) {
		p.until = want // a deadline that is too early only costs one more turn, so it is not moved for every wait
		_ = p.file.SetReadDeadline(want)
	}
	p.mu.Unlock()
	_ = p.raw.Read(p.look) // its only errors are the deadline and the end of the file
}

// open makes the duplicate of fd, which changes when a client's only socket is joined by others.
func (p *parker) open(fd int, epoll bool) bool {
	if p.file != nil && p.of == fd && p.epoll == epoll {
		return true
	}
	p.close()
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return false
	}
	_ = unix.SetNonblock(dup, true) // sockets are already; the flag of an epoll set only tells the runtime
	file := os.NewFile(uintptr(dup), "raknet")
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return false
	}
	if p.look == nil {
		p.look = p.readable
	}
	p.mu.Lock()
	p.file, p.raw, p.of, p.epoll, p.until = file, raw, fd, epoll, time.Time{}
	p.mu.Unlock()
	return true
}

func (p *parker) readable(fd uintptr) bool {
	p.pfd = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	n, _, _ := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.pfd)), 1, uintptr(unsafe.Pointer(&p.zero)), 0, 0, 0)
	return n == 1
}

func (p *parker) interrupt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kicked = true
	if p.file != nil {
		_ = p.file.SetReadDeadline(time.Unix(1, 0)) // the past
	}
}

func (p *parker) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
}
