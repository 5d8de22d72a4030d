package tcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// promptWait is how long a read may keep the processor of its goroutine; the kernel rounds it up to its tick, 1 to 10 ms.
const promptWait = 1_000_000 // ns

// direct is a connected socket outside the runtime's poller. A read waits in the kernel, and the thread that arriving data wakes is
// the one that goes on. One goroutine may read while another writes.
//
// The poller's wait is a read that finds nothing, a park, a wake-up through epoll and a switch of goroutines, with one record under
// way a fifth of the RTT. An ordinary blocking call is no cure: the scheduler's monitor takes the processor from a thread that is
// away for 20 us and wakes up that often to look. So reads bypass the scheduler, but only for promptWait, so that whatever else
// wants the only processor gets it.
type direct struct {
	fd     int
	use    sync.RWMutex // held for reading in calls, so that none meets a descriptor that Close gave back
	closed atomic.Bool
	polled *os.File // once set, reads go through the poller; set by the reader, closed by Close
}

// newDirect takes the socket of c out of the poller. It closes c in any case, because nothing else ends the poller's interest; the
// socket lives on in a duplicate of the descriptor.
func newDirect(c *net.TCPConn) (*direct, error) {
	fd := -1
	raw, err := c.SyscallConn()
	if err == nil {
		err = control(raw, func(old int) (err error) { fd, err = duplicate(old); return err })
	}
	if err := errors.Join(err, c.Close()); err != nil {
		return nil, fmt.Errorf("descriptor: %w", err)
	}
	wait := unix.NsecToTimeval(promptWait)
	if err := errors.Join(unix.SetNonblock(fd, false), unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)); err != nil {
		_ = unix.Close(fd) // the first error is the one to tell
		return nil, fmt.Errorf("blocking socket: %w", err)
	}
	return &direct{fd: fd}, nil
}

func duplicate(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// repoll makes later reads wait in the poller, where a wait frees the processor at once. Only the reader may call it, once.
func (d *direct) repoll() error {
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return net.ErrClosed
	}
	fd, err := duplicate(d.fd)
	if err != nil {
		return fmt.Errorf("descriptor: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd) // the first error is the one to tell
		return fmt.Errorf("non-blocking mode: %w", err)
	}
	d.polled = os.NewFile(uintptr(fd), "tcp") // a non-blocking descriptor joins the poller
	return nil
}

// Read waits for data and takes what is there.
func (d *direct) Read(b []byte) (int, error) {
	d.use.RLock()
	defer d.use.RUnlock()
	for len(b) > 0 && !d.closed.Load() {
		n, err := d.read(b)
		switch {
		case d.closed.Load(): // what Close did must not look like the peer's end
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			d.await(unix.POLLIN)
		default:
			return n, err
		}
	}
	return 0, d.open()
}

func (d *direct) read(b []byte) (int, error) {
	if d.polled != nil {
		return d.polled.Read(b)
	}
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(d.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	switch {
	case errno == unix.EINTR || errno == unix.EAGAIN:
		return 0, errno
	case errno != 0:
		return 0, os.NewSyscallError("read", errno)
	case n == 0:
		return 0, io.EOF
	}
	return int(n), nil
}

// Write writes all of b, with one call unless the send buffer is full.
func (d *direct) Write(b []byte) (sent int, err error) {
	d.use.RLock()
	defer d.use.RUnlock()
	for sent < len(b) && !d.closed.Load() {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(d.fd), uintptr(unsafe.Pointer(&b[sent])), uintptr(len(b)-sent),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch {
		case errno == 0:
			sent += int(n)
		case d.closed.Load() || errno == unix.EINTR:
		case errno == unix.EAGAIN:
			d.await(unix.POLLOUT)
		default:
			return sent, os.NewSyscallError("write", errno)
		}
	}
	if sent < len(b) {
		return sent, net.ErrClosed
	}
	return sent, nil
}

// await waits without a limit and without a processor. Errors are left to the call that follows.
func (d *direct) await(events int16) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(d.fd), Events: events}}, -1)
}

func (d *direct) open() error {
	if d.closed.Load() {
		return net.ErrClosed
	}
	return nil
}

// Control runs f on the descriptor.
func (d *direct) Control(f func(fd uintptr)) error {
	d.use.RLock()
	defer d.use.RUnlock()
	if err := d.open(); err != nil {
		return err
	}
	f(uintptr(d.fd))
	return nil
}

// Close ends calls in progress: shutdown(2) wakes them, and the last one to leave lets the descriptor go.
func (d *direct) Close() error {
	if !d.closed.CompareAndSwap(false, true) {
		return net.ErrClosed
	}
	_ = unix.Shutdown(d.fd, unix.SHUT_RDWR) // fails only where the connection is over, and there nothing waits
	d.use.Lock()
	defer d.use.Unlock()
	if d.polled != nil {
		_ = d.polled.Close() // the socket goes with its other descriptor
	}
	return os.NewSyscallError("close", unix.Close(d.fd))
}
