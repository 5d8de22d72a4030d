//go:build linux

package raknet

// timerHeap orders connections by the time at which they next need a turn. The key may be too early, never too late: a deadline
// that moves away costs nothing until its old time comes.
type timerHeap []*Conn

// set files c under at; never takes it out.
func (h *timerHeap) set(c *Conn, at int64) {
	if at == never {
		h.remove(c)
		return
	}
	if c.timerPos < 0 {
		c.timerPos = len(*h)
		*h = append(*h, c)
	}
	c.timerAt = at
	h.up(c.timerPos)
	h.down(c.timerPos)
}

func (h *timerHeap) remove(c *Conn) {
	c.timerAt = never
	i := c.timerPos
	if i < 0 {
		return
	}
	last := len(*h) - 1
	h.swap(i, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	c.timerPos = -1
	if i < last {
		h.up(i)
		h.down(i)
	}
}

func (h timerHeap) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].timerPos, h[j].timerPos = i, j
}

func (h timerHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].timerAt <= h[i].timerAt {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h timerHeap) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].timerAt < h[least].timerAt {
				least = child
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}

// ackList holds connections with acknowledgements to send, in the order in which they are due: the delay is the same for all.
type ackList struct{ head, tail *Conn }

func (l *ackList) push(c *Conn, due int64) {
	c.ackListed, c.ackDue = true, due
	c.ackNext, c.ackPrev = nil, l.tail
	if l.tail == nil {
		l.head = c
	} else {
		l.tail.ackNext = c
	}
	l.tail = c
}

func (l *ackList) remove(c *Conn) {
	if !c.ackListed {
		return
	}
	c.ackListed = false
	if c.ackPrev == nil {
		l.head = c.ackNext
	} else {
		c.ackPrev.ackNext = c.ackNext
	}
	if c.ackNext == nil {
		l.tail = c.ackPrev
	} else {
		c.ackNext.ackPrev = c.ackPrev
	}
	c.ackNext, c.ackPrev = nil, nil
}
