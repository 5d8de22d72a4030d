package echo

import "sync/atomic"

// gate is the window of a connection whose sender and receiver are two goroutines. The sender sleeps only when the window is
// full, and the receiver wakes it only when it sleeps, so neither pays for a lock per message.
type gate struct {
	window  int64
	freed   atomic.Int64 // echoes verified so far
	waiting atomic.Bool
	stopped atomic.Bool
	wake    chan struct{} // capacity 1: a token left over costs one more look, a missing one would hang
}

func newGate(window int) *gate {
	return &gate{window: int64(window), wake: make(chan struct{}, 1)}
}

// take waits until at least one more message may be sent after sent ones and returns how many may, up to most. It returns 0 when
// the receiver has given up.
func (g *gate) take(sent int64, most int) int {
	for {
		if g.stopped.Load() {
			return 0
		}
		if free := g.freed.Load() + g.window - sent; free > 0 {
			return int(min(free, int64(most)))
		}
		g.waiting.Store(true)
		if g.freed.Load()+g.window > sent || g.stopped.Load() {
			g.waiting.Store(false)
			continue
		}
		<-g.wake
	}
}

// free is called by the receiver once per verified echo.
func (g *gate) free() {
	g.freed.Add(1)
	g.rouse()
}

// stop is called by the receiver when it will verify no more.
func (g *gate) stop() {
	g.stopped.Store(true)
	g.rouse()
}

func (g *gate) rouse() {
	if g.waiting.Load() && g.waiting.CompareAndSwap(true, false) {
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
}
