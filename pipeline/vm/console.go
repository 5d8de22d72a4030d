package vm

import (
	"fmt"
	"sync"
)

// consoleKeep is how much of the beginning and of the end of a console is kept, in bytes each.
const consoleKeep = 256 << 10

// shortLog keeps the beginning and the end of a stream of any length.
type shortLog struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte // a ring once it is full
	at      int
	dropped int64
}

// Write never fails: a console that is full must not stop the machine.
func (l *shortLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	take := min(consoleKeep-len(l.head), len(p))
	l.head = append(l.head, p[:take]...)
	for _, b := range p[take:] {
		if len(l.tail) < consoleKeep {
			l.tail = append(l.tail, b)
			continue
		}
		l.tail[l.at] = b
		l.at = (l.at + 1) % consoleKeep
		l.dropped++
	}
	return n, nil
}

// bytes is a copy of what was kept; a line says what was left out.
func (l *shortLog) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := append([]byte{}, l.head...)
	if l.dropped > 0 {
		out = fmt.Appendf(out, "\n[%d bytes left out]\n", l.dropped)
	}
	out = append(out, l.tail[l.at:]...)
	return append(out, l.tail[:l.at]...)
}
