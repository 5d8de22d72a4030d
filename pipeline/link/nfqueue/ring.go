package nfqueue

// entry is a packet that waits for its time.
type entry struct {
	id    uint32
	dueNS int64 // on the loop's monotonic clock
}

// ring is a growing first-in first-out buffer, for packets that leave in the order they came.
type ring struct {
	entries []entry
	head, n int
}

func (r *ring) push(e entry) {
	if r.n == len(r.entries) {
		grown := make([]entry, max(256, 2*len(r.entries)))
		for i := range r.n {
			grown[i] = r.entries[(r.head+i)%len(r.entries)]
		}
		r.entries, r.head = grown, 0
	}
	r.entries[(r.head+r.n)%len(r.entries)] = e
	r.n++
}

// front is the oldest entry; ok is false when the ring is empty.
func (r *ring) front() (e entry, ok bool) {
	if r.n == 0 {
		return entry{}, false
	}
	return r.entries[r.head], true
}

func (r *ring) pop() {
	r.head = (r.head + 1) % len(r.entries)
	r.n--
}
