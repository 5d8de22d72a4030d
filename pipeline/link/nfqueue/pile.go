package nfqueue

import "container/heap"

// pile holds packets until they are due: in order of arrival where that is the order of leaving, else sorted.
type pile struct {
	sorted bool
	ring   ring
	heap   byDue
}

func (p *pile) push(e entry) {
	if p.sorted {
		heap.Push(&p.heap, e)
	} else {
		p.ring.push(e)
	}
}

// front is the packet that leaves next; ok is false when nothing waits.
func (p *pile) front() (e entry, ok bool) {
	if !p.sorted {
		return p.ring.front()
	}
	if len(p.heap) == 0 {
		return entry{}, false
	}
	return p.heap[0], true
}

func (p *pile) pop() {
	if p.sorted {
		heap.Pop(&p.heap)
	} else {
		p.ring.pop()
	}
}

// byDue sorts by time, and by arrival where times are equal.
type byDue []entry

func (h byDue) Len() int { return len(h) }

func (h byDue) Less(i, j int) bool {
	if h[i].dueNS != h[j].dueNS {
		return h[i].dueNS < h[j].dueNS
	}
	return int32(h[i].id-h[j].id) < 0 // ids wrap around
}

func (h byDue) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push and Pop are for container/heap.
func (h *byDue) Push(x any) { *h = append(*h, x.(entry)) } //nolint:forcetypeassert // container/heap gives back what pile put in

// Pop removes the last entry.
func (h *byDue) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
