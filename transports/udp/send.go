//go:build linux

package udp

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxRun is the most segments the kernel takes in one call (UDP_MAX_SEGMENTS of include/linux/udp.h, 64 before 6.9).
	maxRun = 64
	// maxRunBytes is the largest UDP payload over IPv4.
	maxRunBytes = 65507
	// maxParts is the most pieces of memory one datagram is gathered from: a head and a share.
	maxParts = 2
)

// control is one UDP_SEGMENT control message: its header and the size of a segment.
type control [24]byte

// group describes one header of a sender: how many datagrams it stands for and where their pieces are.
type group struct {
	iov, parts int // first piece, pieces a datagram
	datagrams  int
	size       int // bytes of each datagram but the last
	bytes      int
	closed     bool // a shorter datagram has ended the run
}

// sender collects datagrams and sends them in one call. With gso, neighbours of one size to one peer become one header that the
// kernel cuts into datagrams. It keeps pointers to what is added until flush. One thread uses it.
type sender struct {
	hdrs      [batch]mmsghdr
	groups    [batch]group
	controls  [batch]control
	iovs      [maxParts * batch]unix.Iovec
	peers     [batch]*peer
	used      int // headers
	pieces    int
	queued    int // datagrams
	gso       bool
	calls     int64
	datagrams int64 // accepted by the kernel
}

// room says whether n more datagrams fit.
func (s *sender) room(n int) bool { return s.queued+n <= batch }

// add queues one datagram made of head (may be nil) and body; to is nil on a connected socket.
func (s *sender) add(to *peer, head, body []byte) {
	first := s.pieces
	for _, piece := range [maxParts][]byte{head, body} {
		if len(piece) > 0 {
			s.iovs[s.pieces].Base = &piece[0]
			s.iovs[s.pieces].SetLen(len(piece))
			s.pieces++
		}
	}
	s.queued++
	size, parts := len(head)+len(body), s.pieces-first
	if s.gso && s.used > 0 && s.extend(to, size, parts) {
		return
	}
	s.groups[s.used] = group{iov: first, parts: parts, datagrams: 1, size: size, bytes: size}
	s.peers[s.used] = to
	s.hdrs[s.used].hdr = header(to, s.iovs[first:], parts)
	s.used++
}

func header(to *peer, iovs []unix.Iovec, parts int) unix.Msghdr {
	h := unix.Msghdr{}
	if parts > 0 {
		h.Iov = &iovs[0]
	}
	h.SetIovlen(parts)
	if to != nil {
		h.Name, h.Namelen = &to[0], to.length()
	}
	return h
}

// extend adds the newest datagram to the last group if the kernel can cut it off again.
func (s *sender) extend(to *peer, size, parts int) bool {
	i := s.used - 1
	g := &s.groups[i]
	same := s.peers[i] == to || s.peers[i] != nil && to != nil && *s.peers[i] == *to
	if !same || g.closed || g.parts != parts || size > g.size || size == 0 || g.datagrams == maxRun || g.bytes+size > maxRunBytes {
		return false
	}
	g.datagrams++
	g.bytes += size
	g.closed = size < g.size
	h := &s.hdrs[i].hdr
	h.SetIovlen(g.datagrams * parts)
	h.Control = s.controls[i].segment(g.size)
	h.SetControllen(unix.CmsgLen(2))
	return true
}

func (c *control) segment(size int) *byte {
	h := (*unix.Cmsghdr)(unsafe.Pointer(c))
	h.Level, h.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.CmsgLen(2))
	binary.NativeEndian.PutUint16(c[unix.CmsgLen(0):], uint16(size))
	return &c[0]
}

// flush sends what is queued. A datagram for which the kernel had no memory is as good as lost on the way.
func (s *sender) flush(fd int) error {
	for at := 0; at < s.used; {
		n, errno := s.send(fd, s.hdrs[at:s.used])
		for _, g := range s.groups[at : at+n] {
			s.datagrams += int64(g.datagrams)
		}
		at += n
		if errno == 0 {
			continue
		}
		retry, err := s.recover(fd, at, errno)
		if err != nil {
			return err
		}
		if !retry {
			at++
		}
	}
	s.used, s.pieces, s.queued = 0, 0, 0
	return nil
}

// send makes one call that does not block and returns how many headers the kernel took.
func (s *sender) send(fd int, hdrs []mmsghdr) (int, unix.Errno) {
	s.calls++
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&hdrs[0])), uintptr(len(hdrs)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// recover deals with the error that header at met: retry says that it should be tried again, else it is passed over.
func (s *sender) recover(fd, at int, errno unix.Errno) (retry bool, err error) {
	switch errno {
	case unix.EINTR:
		return true, nil
	case unix.EAGAIN:
		return true, s.wait(fd)
	case unix.ENOBUFS:
		return false, nil
	case unix.EIO, unix.EINVAL, unix.EMSGSIZE:
		if g := s.groups[at]; g.datagrams > 1 {
			s.gso = false // the path cannot segment: from now on every datagram has a header of its own
			return false, s.singly(fd, at)
		}
	case unix.ECONNREFUSED:
		return false, fmt.Errorf("server is not listening: %w", errno)
	}
	return false, fmt.Errorf("sendmmsg: %w", errno)
}

// singly sends the datagrams of group at one by one.
func (s *sender) singly(fd, at int) error {
	g := s.groups[at]
	var one [1]mmsghdr
	for i := 0; i < g.datagrams; {
		one[0].hdr = header(s.peers[at], s.iovs[g.iov+i*g.parts:], g.parts)
		switch _, errno := s.send(fd, one[:]); errno {
		case 0:
			s.datagrams++
			i++
		case unix.EINTR:
		case unix.ENOBUFS:
			i++
		case unix.EAGAIN:
			if err := s.wait(fd); err != nil {
				return err
			}
		default:
			return fmt.Errorf("sendmmsg: %w", errno)
		}
	}
	return nil
}

// wait blocks until fd takes data again.
func (s *sender) wait(fd int) error {
	s.calls++
	_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
	if err != nil && err != unix.EINTR {
		return fmt.Errorf("poll: %w", err)
	}
	return nil
}
