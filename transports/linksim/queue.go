package linksim

import (
	"net/netip"
	"time"
)

// packet is one copy of a datagram on its way.
type packet struct {
	due       time.Time
	order     uint64 // of arrival in the queue: breaks ties, so equal delays keep their order
	number    uint64 // of the datagram in its direction
	from      netip.AddrPort
	direction *direction
	data      []byte // owned
}

// queue is a heap by due time, for container/heap.
type queue struct {
	packets []packet
	pushed  uint64
}

func (q *queue) Len() int { return len(q.packets) }

func (q *queue) Less(i, j int) bool {
	a, b := &q.packets[i], &q.packets[j]
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.order < b.order
}

func (q *queue) Swap(i, j int) { q.packets[i], q.packets[j] = q.packets[j], q.packets[i] }

func (q *queue) Push(x any) { q.packets = append(q.packets, x.(packet)) }

func (q *queue) Pop() any {
	last := len(q.packets) - 1
	p := q.packets[last]
	q.packets[last] = packet{}
	q.packets = q.packets[:last]
	return p
}
