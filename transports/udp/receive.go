//go:build linux

package udp

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// batch is how many datagrams one system call may move.
const batch = 64

// mmsghdr is struct mmsghdr of recvmmsg(2); x/sys has no such type.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32 // bytes received or sent
}

// receiver reads up to batch datagrams at a time into memory of its own. One thread uses it.
type receiver struct {
	hdrs  [batch]mmsghdr
	iovs  [batch]unix.Iovec
	peers [batch]peer
	slab  []byte
	size  int // bytes of the slab for each datagram
	calls int64
}

// newReceiver takes datagrams of up to largest bytes. One byte more is kept, so that a longer one is noticed.
func newReceiver(largest int) *receiver {
	size := (largest + 1 + 63) &^ 63
	r := &receiver{slab: make([]byte, batch*size), size: size}
	for i := range r.hdrs {
		r.iovs[i].Base = &r.slab[i*size]
		r.iovs[i].SetLen(size)
		h := &r.hdrs[i].hdr
		h.Name = &r.peers[i][0]
		h.Iov = &r.iovs[i]
		h.SetIovlen(1)
	}
	return r
}

// datagram i of the last receive; valid until the next.
func (r *receiver) datagram(i int) []byte { return r.slab[i*r.size:][:r.hdrs[i].n] }

// receive returns how many datagrams are there. What is ready is taken by a raw call, which the scheduler does not notice; only
// when nothing is there does wait make a call that may block, until a datagram, the socket's timeout or a shutdown.
func (r *receiver) receive(fd int, wait bool) (int, error) {
	for i := range r.hdrs {
		r.hdrs[i].hdr.Namelen = uint32(len(r.peers[i]))
	}
	r.calls++
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.hdrs[0])), batch, unix.MSG_DONTWAIT, 0, 0)
	if errno == unix.EAGAIN && wait {
		r.calls++
		n, _, errno = unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.hdrs[0])), batch, unix.MSG_WAITFORONE, 0, 0)
	}
	switch errno {
	case 0:
		return int(n), nil
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	case unix.ECONNREFUSED:
		return 0, fmt.Errorf("server is not listening: %w", errno)
	}
	return 0, fmt.Errorf("recvmmsg: %w", errno)
}
