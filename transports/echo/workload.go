package echo

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"transportbench/transports/wire"
)

// barrier joins the lanes before and after the burst.
type barrier struct {
	ready    chan struct{} // one token per lane that has finished its rounds
	release  chan struct{} // closed by the main goroutine: the burst begins
	finished chan struct{} // one token per lane whose last echo is verified
}

// workload runs rounds, barrier, burst and the wait for surplus echoes on all lanes and returns the time of the barrier's release.
// The first failure closes every connection, which ends the other lanes.
func (c *client) workload(ctx context.Context) (start int64, err error) {
	b := barrier{
		ready: make(chan struct{}, len(c.lanes)), release: make(chan struct{}), finished: make(chan struct{}, len(c.lanes)),
	}
	g, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, c.closeAll)()
	for _, l := range c.lanes {
		g.Go(func() error { return l.run(ctx, &b) })
	}
	if collect(ctx, b.ready) {
		start = c.clock.now()
		mono := monoNS()
		close(b.release)
		if err := c.out.Write(wire.Start{MonoNS: mono}); err != nil {
			g.Go(func() error { return err })
		}
		if collect(ctx, b.finished) {
			pause(ctx, surplusWait)
		}
	}
	c.closeAll()
	return start, g.Wait()
}

func (l *lane) run(ctx context.Context, b *barrier) error {
	if err := l.rounds(); err != nil {
		return err
	}
	b.ready <- struct{}{}
	select {
	case <-b.release:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := l.runBurst(); err != nil {
		return err
	}
	b.finished <- struct{}{}
	return l.surplus()
}

// collect takes as many tokens as the channel can hold; false says that ctx ended first.
func collect(ctx context.Context, tokens <-chan struct{}) bool {
	for range cap(tokens) {
		select {
		case <-tokens:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
