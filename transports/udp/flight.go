//go:build linux

package udp

// entry is one message that awaits its echo.
type entry struct {
	msg     uint64
	sentNS  int64
	missing uint32 // bit i: fragment i has not come back
}

// flight holds the messages of one connection that await their echo, oldest first. Echoes mostly come in order, so the wanted
// message is nearly always the oldest; a straggler costs one step for everything that overtakes it.
type flight struct {
	ring []entry // a power of two
	head int
	n    int
}

func newFlight(window int) flight {
	size := 1
	for size < window {
		size *= 2
	}
	return flight{ring: make([]entry, size)}
}

func (f *flight) at(i int) *entry { return &f.ring[(f.head+i)&(len(f.ring)-1)] }

// push adds a message newer than all others; the caller keeps to the window.
func (f *flight) push(msg uint64, nowNS int64, fragments int) {
	*f.at(f.n) = entry{msg: msg, sentNS: nowNS, missing: uint32(1<<fragments - 1)}
	f.n++
}

// find returns the position of a message, or -1.
func (f *flight) find(msg uint64) int {
	for i := range f.n {
		if m := f.at(i).msg; m >= msg {
			if m == msg {
				return i
			}
			return -1
		}
	}
	return -1
}

// remove closes the gap from the old side, which is the short one.
func (f *flight) remove(i int) {
	for ; i > 0; i-- {
		*f.at(i) = *f.at(i - 1)
	}
	f.head = (f.head + 1) & (len(f.ring) - 1)
	f.n--
}
