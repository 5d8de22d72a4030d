//go:build linux

package raknet

import "time"

// limits are the deadlines of a connection on the shard's clock.
type limits struct {
	at    [2]int64 // reading, writing; never: none
	timer [2]*time.Timer
}

// SetDeadline sets both deadlines. Calls that wait past it fail with os.ErrDeadlineExceeded; zero means no deadline.
func (c *Conn) SetDeadline(t time.Time) {
	c.SetReadDeadline(t)
	c.SetWriteDeadline(t)
}

// SetReadDeadline sets the deadline of Recv and its relatives.
func (c *Conn) SetReadDeadline(t time.Time) { c.setDeadline(reading, t) }

// SetWriteDeadline sets the deadline of Send, its relatives and Flush.
func (c *Conn) SetWriteDeadline(t time.Time) { c.setDeadline(writing, t) }

func (c *Conn) setDeadline(side purpose, t time.Time) {
	sh := c.sh
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if c.limits == nil {
		c.limits = &limits{at: [2]int64{never, never}}
	}
	l := c.limits
	if old := l.timer[side]; old != nil {
		old.Stop()
		l.timer[side] = nil
	}
	l.at[side] = never
	if !t.IsZero() && !c.shut {
		wait := time.Until(t)
		l.at[side] = max(0, sh.clock()+int64(wait))
		l.timer[side] = time.AfterFunc(max(0, wait), c.expired)
	}
	sh.wakeAll(c)
	sh.kick()
}

// expired makes waiting calls look at the deadlines.
func (c *Conn) expired() {
	c.sh.mu.Lock()
	defer c.sh.mu.Unlock()
	c.sh.wakeAll(c)
	c.sh.kick()
}

func (c *Conn) stopLimits() {
	if c.limits == nil {
		return
	}
	for _, t := range c.limits.timer {
		if t != nil {
			t.Stop()
		}
	}
}

func (c *Conn) deadlineOf(why purpose) int64 {
	if c.limits == nil || why == dialing {
		return never
	}
	return c.limits.at[min(why, writing)]
}
