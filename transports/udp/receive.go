//go:build linux

package udp

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// batch is how many datagrams one system call may move.
const batch = 64

// lookEvery is how many vain looks in a row are believed, and how often one is taken afterwards.
const lookEvery = 8

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
	size  int  // bytes of the slab for each datagram
	named bool // whether senders are wanted
	last  int  // datagrams of the last receive that had any
	vain  int  // waits since the last receive of more than one
	calls int64
}

// newReceiver takes datagrams of up to largest bytes. One byte more is kept, so that a longer one is noticed.
// With named, peers holds who sent each; a connected socket knows that without asking.
func newReceiver(largest int, named bool) *receiver {
	size := (largest + 1 + 63) &^ 63
	r := &receiver{slab: make([]byte, batch*size), size: size, named: named}
	for i := range r.hdrs {
		r.iovs[i].Base = &r.slab[i*size]
		r.iovs[i].SetLen(size)
		h := &r.hdrs[i].hdr
		h.Iov = &r.iovs[i]
		h.SetIovlen(1)
		if named {
			h.Name = &r.peers[i][0]
		}
	}
	return r
}

// datagram i of the last receive; valid until the next.
func (r *receiver) datagram(i int) []byte { return r.slab[i*r.size:][:r.hdrs[i].n] }

// receive returns how many datagrams are there. What is ready is taken by a raw call, which the scheduler does not notice; only
// when nothing is there does wait make a call that may block, until a datagram, the socket's timeout or a shutdown. Where one
// datagram travels at a time both would cost the round a vain look, so the call that blocks asks for no more than came last time,
// and a look that keeps being vain is taken only now and then; a burst is still noticed within lookEvery datagrams.
func (r *receiver) receive(fd int, wait bool) (int, error) {
	n, errno := 0, unix.EAGAIN
	if !wait || r.vain < lookEvery || r.vain%lookEvery == 0 {
		n, errno = r.ready(fd)
	}
	if errno == unix.EAGAIN && wait {
		r.vain++
		n, errno = r.block(fd)
	}
	if n > 1 {
		r.vain = 0
	}
	switch errno {
	case 0:
		r.last = n
		return n, nil
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	case unix.ECONNREFUSED:
		return 0, fmt.Errorf("server is not listening: %w", errno)
	}
	return 0, fmt.Errorf("recvmmsg: %w", errno)
}

func (r *receiver) ready(fd int) (int, unix.Errno) {
	r.rearm(batch)
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.hdrs[0])), batch, unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

func (r *receiver) block(fd int) (int, unix.Errno) {
	most := max(1, r.last)
	r.rearm(most)
	n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.hdrs[0])), uintptr(most), unix.MSG_WAITFORONE, 0, 0)
	return int(n), errno
}

// rearm undoes what the kernel has written into the headers, and counts the call that follows.
func (r *receiver) rearm(n int) {
	r.calls++
	if !r.named {
		return
	}
	for i := range n {
		r.hdrs[i].hdr.Namelen = uint32(len(r.peers[i]))
	}
}
