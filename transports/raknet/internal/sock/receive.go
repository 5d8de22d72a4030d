//go:build linux

package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// SlotSize is the room for one datagram in bytes. Larger ones are cut and reported as such.
const SlotSize = 2048

type mmsghdr struct {
	hdr unix.Msghdr
	len uint32
	_   [4]byte
}

// Receiver reads batches of datagrams into slots of its own.
type Receiver struct {
	Calls int64 // system calls so far
	msgs  []mmsghdr
	iovs  []unix.Iovec
	names []Addr
	slots []byte
}

// NewReceiver makes a Receiver of up to n datagrams a call.
func NewReceiver(n int) *Receiver {
	r := &Receiver{msgs: make([]mmsghdr, n), iovs: make([]unix.Iovec, n), names: make([]Addr, n), slots: make([]byte, n*SlotSize)}
	for i := range r.msgs {
		r.iovs[i].Base = &r.slots[i*SlotSize]
		r.iovs[i].SetLen(SlotSize)
		h := &r.msgs[i].hdr
		h.Iov = &r.iovs[i]
		h.SetIovlen(1)
		h.Name = (*byte)(unsafe.Pointer(&r.names[i].raw))
	}
	return r
}

// Receive reads what is there without waiting and returns the number of datagrams, 0 if there is none or on an error: errors of a
// UDP socket belong to datagrams sent earlier, and those count as lost.
func (r *Receiver) Receive(fd int) int {
	for i := range r.msgs {
		r.msgs[i].hdr.Namelen = unix.SizeofSockaddrInet6
	}
	for range 3 {
		r.Calls++
		n, _, e := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.msgs[0])), uintptr(len(r.msgs)), unix.MSG_DONTWAIT, 0, 0)
		if e == 0 {
			return int(n)
		}
		if e == unix.EAGAIN {
			return 0
		}
	}
	return 0
}

// Full says whether n datagrams are all that one call can return, so that more may be waiting.
func (r *Receiver) Full(n int) bool { return n == len(r.msgs) }

// Datagram returns the i-th datagram of the last call; cut says that it was larger than a slot.
func (r *Receiver) Datagram(i int) (b []byte, from *Addr, cut bool) {
	m := &r.msgs[i]
	r.names[i].len = m.hdr.Namelen
	at := i * SlotSize
	return r.slots[at : at+int(m.len)], &r.names[i], m.hdr.Flags&unix.MSG_TRUNC != 0
}
