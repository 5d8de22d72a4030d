package core

import "transportbench/transports/raknet/internal/codec"

// frame is one frame on its way to the peer. head is a whole datagram but for the body of an owned message, which is in tail;
// its first four bytes are room for the datagram header, so a lone frame is sent from where it lies.
type frame struct {
	next, prev *frame
	head, tail []byte
	index      uint32 // reliable index
	number     uint32 // datagram that carried it last
	sentNS     int64
	timeoutNS  int64 // from sentNS to the retransmission
	charge     int32 // bytes counted against the send buffer
	resends    uint16
	timeouts   uint16 // since the peer last acknowledged anything
	held       bool   // timed out, but waits for the answer to a probe
	reliable   bool
	fragment   bool // of a split message
	later      bool // a fragment after the first
	packable   bool
}

// size is the encoded size of the frame without a datagram header.
func (f *frame) size() int { return len(f.head) - codec.DatagramHeader + len(f.tail) }

// frameList is a doubly linked list. A frame is in at most one.
type frameList struct {
	head, tail *frame
	n          int
}

func (l *frameList) push(f *frame) {
	f.next, f.prev = nil, l.tail
	if l.tail == nil {
		l.head = f
	} else {
		l.tail.next = f
	}
	l.tail = f
	l.n++
}

func (l *frameList) remove(f *frame) {
	if f.prev == nil {
		l.head = f.next
	} else {
		f.prev.next = f.next
	}
	if f.next == nil {
		l.tail = f.prev
	} else {
		f.next.prev = f.prev
	}
	f.next, f.prev = nil, nil
	l.n--
}

func (l *frameList) pop() *frame {
	f := l.head
	if f != nil {
		l.remove(f)
	}
	return f
}
