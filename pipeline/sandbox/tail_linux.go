package sandbox

import (
	"bytes"
	"strings"
	"sync"
)

// tail keeps the last bytes that were written to it, for error messages.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// tailBytes is enough for the last lines of a Go panic.
const tailBytes = 2048

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailBytes; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

// String returns the tail as one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Split(string(bytes.TrimSpace(t.buf)), "\n"), " | ")
}
