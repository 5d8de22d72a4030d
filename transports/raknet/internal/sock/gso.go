//go:build linux

package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// gsoControl is the space of one control message with a u16.
const gsoControl = unix.SizeofCmsghdr + 8

// run is how many parts from at on can be one segmented send: one peer, equal sizes, only the last one shorter.
func (s *Sender) run(at int) int {
	size, bytes := s.parts[at].size(), 0
	n := 0
	for i := at; i < s.n && n < gsoSegments; i++ {
		p := &s.parts[i]
		if p.to != s.parts[at].to || p.size() > size || bytes+p.size() > gsoBytes {
			break
		}
		bytes += p.size()
		n++
		if p.size() < size {
			break
		}
	}
	return n
}

// segment makes the message of h carry datagrams of size bytes each.
func (s *Sender) segment(h *unix.Msghdr, m, size int) {
	c := (*unix.Cmsghdr)(unsafe.Pointer(&s.ctl[m][0]))
	c.Level, c.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	c.SetLen(unix.SizeofCmsghdr + 2)
	*(*uint16)(unsafe.Pointer(&s.ctl[m][unix.SizeofCmsghdr])) = uint16(size)
	h.Control = &s.ctl[m][0]
	h.SetControllen(gsoControl)
	s.Segmented++
}
