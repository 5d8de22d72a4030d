package link

import (
	"fmt"
	"sync"
	"time"

	"transportbench/pipeline/matrix"
)

// timeline changes a link at planned moments.
type timeline struct {
	quit, done chan struct{}
	mu         sync.Mutex
	err        error // of the first change that failed
}

// newTimeline starts to count now; nil without steps. stop ends it.
func newTimeline(steps []matrix.RateStep, change func(matrix.RateStep) error) *timeline {
	if len(steps) == 0 {
		return nil
	}
	t := &timeline{quit: make(chan struct{}), done: make(chan struct{})}
	start := time.Now()
	go func() { // ends after the last step, the first failure, or with stop
		defer close(t.done)
		for _, s := range steps {
			select {
			case <-t.quit:
				return
			case <-time.After(s.AfterNS - time.Since(start)):
			}
			if err := change(s); err != nil {
				t.mu.Lock()
				t.err = fmt.Errorf("link step after %s: %w", s.AfterNS, err)
				t.mu.Unlock()
				return
			}
		}
	}()
	return t
}

// failed is the error of a change so far.
func (t *timeline) failed() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// stop waits for the end of the goroutine and returns what went wrong.
func (t *timeline) stop() error {
	if t == nil {
		return nil
	}
	close(t.quit)
	<-t.done
	return t.failed()
}
