//go:build linux

package sock

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sendBatch   = 64
	gsoSegments = 44    // datagrams in one segmented send
	gsoBytes    = 61440 // and their bytes, below the 64 KiB of one IP packet
)

// Sender collects datagrams and sends them in few calls.
type Sender struct {
	GSO       bool         // use UDP_SEGMENT for runs of equal datagrams; switched off for good when the kernel refuses it
	Calls     atomic.Int64 // One may be called from several goroutines at once
	Lost      atomic.Int64 // datagrams that the kernel did not take
	TooLarge  atomic.Int64 // of these because of their size
	Segmented int64        // messages of calls that carried several datagrams

	n     int
	parts [sendBatch]part
	msgs  [sendBatch]mmsghdr
	iovs  [2 * sendBatch]unix.Iovec
	ctl   [sendBatch][gsoControl]byte
	call  sendCall
}

// part is one datagram; its iovecs are iovs[2i] and, if it has a tail, iovs[2i+1].
type part struct {
	to         *Addr
	head, tail []byte
}

func (p *part) size() int { return len(p.head) + len(p.tail) }

// sendCall is the system call, so that tests can refuse things.
type sendCall func(fd int, msgs []mmsghdr) (int, unix.Errno)

func sendmmsg(fd int, msgs []mmsghdr) (int, unix.Errno) {
	n, _, e := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&msgs[0])), uintptr(len(msgs)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), e
}

// One sends a single datagram in one call; to is nil on a connected socket. It reports EMSGSIZE through TooLarge.
func (s *Sender) One(fd int, b []byte, to *Addr) {
	for try := 0; ; try++ {
		s.Calls.Add(1)
		name, size := uintptr(0), uintptr(0)
		if to != nil {
			name, size = uintptr(unsafe.Pointer(&to.raw)), uintptr(to.len)
		}
		_, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, name, size)
		if e == 0 || !s.retry(fd, e, try) {
			return
		}
	}
}

// retry says whether a failed send deserves another try: an error left over from an earlier datagram, a firewall's passing refusal
// or a full buffer. Everything else is a lost datagram.
func (s *Sender) retry(fd int, e unix.Errno, try int) bool {
	switch e {
	case unix.EINTR:
		return true
	case unix.EAGAIN, unix.ENOBUFS:
		if try < 4 {
			waitWritable(fd)
			return true
		}
	case unix.EMSGSIZE:
		s.TooLarge.Add(1)
	default: // ECONNREFUSED, EHOSTUNREACH, EPERM
		if try == 0 {
			return true
		}
	}
	s.Lost.Add(1)
	return false
}

// Add queues a datagram in up to two pieces, which must stay as they are until Flush. It flushes when there is no room left.
func (s *Sender) Add(fd int, head, tail []byte, to *Addr) {
	if s.n == sendBatch {
		s.Flush(fd)
	}
	s.parts[s.n] = part{to, head, tail}
	s.n++
}

// Flush sends everything queued.
func (s *Sender) Flush(fd int) {
	if s.n == 1 && len(s.parts[0].tail) == 0 {
		s.One(fd, s.parts[0].head, s.parts[0].to)
	} else {
		for from := 0; from < s.n; {
			from = s.flush(fd, from)
		}
	}
	clear(s.parts[:s.n])
	s.n = 0
}

// flush sends from part from on and returns the first part that was not sent.
func (s *Sender) flush(fd, from int) int {
	var upTo [sendBatch]int // end of the parts of each message
	count := 0
	for at := from; at < s.n; count++ {
		at += s.message(count, at)
		upTo[count] = at
	}
	if s.call == nil {
		s.call = sendmmsg
	}
	done := 0
	for try := 0; done < count; {
		s.Calls.Add(1)
		n, e := s.call(fd, s.msgs[done:count])
		if e == 0 && n > 0 {
			done, try = done+n, 0
			continue
		}
		first := from
		if done > 0 {
			first = upTo[done-1]
		}
		if upTo[done]-first > 1 && (e == unix.EIO || e == unix.EINVAL || e == unix.EMSGSIZE) {
			s.GSO = false
			return first
		}
		if s.retry(fd, e, try) {
			try++
			continue
		}
		done, try = done+1, 0
	}
	return s.n
}

// message fills msgs[m] with the part at or, with GSO, the run of parts that starts there, and returns how many parts it took.
func (s *Sender) message(m, at int) int {
	p := &s.parts[at]
	h := &s.msgs[m].hdr
	*h = unix.Msghdr{}
	if p.to != nil {
		h.Name, h.Namelen = (*byte)(unsafe.Pointer(&p.to.raw)), p.to.len
	}
	n := 1
	if s.GSO {
		n = s.run(at)
	}
	iov := 0
	for i := range n {
		iov += s.pieces(&s.parts[at+i], 2*at+iov)
	}
	h.Iov = &s.iovs[2*at]
	h.SetIovlen(iov)
	if n > 1 {
		s.segment(h, m, p.size())
	}
	return n
}

func (s *Sender) pieces(p *part, at int) int {
	s.iovs[at].Base = &p.head[0]
	s.iovs[at].SetLen(len(p.head))
	if len(p.tail) == 0 {
		return 1
	}
	s.iovs[at+1].Base = &p.tail[0]
	s.iovs[at+1].SetLen(len(p.tail))
	return 2
}
