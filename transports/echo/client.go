package echo

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"transportbench/transports/wire"
)

const (
	// handshakes is how many connections are opened at a time (published: 8).
	handshakes = 8
	// surplusWait is how long the connections stay open after the last echo, outside the timer, for one echo too many to show up.
	surplusWait = 25 * time.Millisecond
	// closeGrace is how long calls into the transport may take to come back once their connections are closed.
	closeGrace = 500 * time.Millisecond
)

// client is one run of the client role.
type client struct {
	transport Transport
	cfg       wire.Config
	out       *wire.Writer
	clock     clock
	rooms     *roomPool

	lanes  []*lane    // complete once connect has returned
	mu     sync.Mutex // until then it guards the slots against a close from the deadline
	closed bool

	sparse, loaded []int64 // backing arrays of the lanes' samples
}

// measure plays the client. The workload runs in a goroutine of its own so that the deadline holds even when a call into the
// transport never returns; that goroutine is then left behind, and the process ends.
func (d *driver) measure(cfg wire.Config) error {
	if err := d.hello(ProcessSettings(cfg)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &client{
		transport: d.transport, cfg: cfg, out: d.out, clock: newClock(), rooms: newRoomPool(cfg.Payload),
		lanes: make([]*lane, cfg.Connections),
	}
	done := make(chan error, 1)
	go func() { done <- c.run(ctx) }()
	deadline := time.NewTimer(cfg.Deadline)
	defer deadline.Stop()
	var err error
	select {
	case err = <-done:
		return err
	case <-deadline.C:
		err = fmt.Errorf("client has no result after %v: %w", cfg.Deadline, context.DeadlineExceeded)
	case <-d.stop:
		err = wire.ErrInterrupted
	}
	cancel()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-done: //nolint:errcheck // why it was stopped is the news, not that it stopped
	case <-grace.C:
	}
	return err
}

func (c *client) run(ctx context.Context) error {
	defer c.closeAll()
	defer context.AfterFunc(ctx, c.closeAll)()
	file, err := wire.CreateSamples(c.cfg.SamplesFile) // first: a path that cannot be written must not cost a run
	if err != nil {
		return err
	}
	defer file.Discard() // unless complete
	if err := c.connect(ctx); err != nil {
		return err
	}
	start, err := c.workload(ctx)
	if err != nil {
		return err
	}
	return c.report(start, file)
}

// connect opens all connections and writes the connected record.
func (c *client) connect(ctx context.Context) error {
	began := c.clock.now()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(handshakes)
	for i := range c.lanes {
		g.Go(func() error { return c.dial(ctx, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	setup := c.clock.now() - began
	c.allotSamples()
	s := ProcessSettings(c.cfg)
	c.lanes[0].conn.Settings(&s)
	return c.out.Write(wire.Connected{N: len(c.lanes), SetupNS: setup, Settings: &s})
}

func (c *client) dial(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := c.transport.Dial(ctx, c.cfg, i)
	if err != nil {
		return fmt.Errorf("connection %d to %s: %w", i, c.cfg.Addr, err)
	}
	l, err := newLane(&c.cfg, c.clock, i, conn, c.rooms)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.closed {
		_ = conn.Close()
		return err
	}
	c.lanes[i] = l
	return nil
}

// allotSamples gives each lane its part of arrays that are allocated once, so nothing is allocated during the measurement.
func (c *client) allotSamples() {
	n, s, m := len(c.lanes), c.cfg.Samples, c.cfg.Messages
	c.sparse = make([]int64, n*s)
	if c.cfg.Suite == wire.SuiteLoaded {
		c.loaded = make([]int64, n*m)
	}
	for i, l := range c.lanes {
		l.sparse = c.sparse[i*s : (i+1)*s]
		if c.loaded != nil {
			l.loaded = c.loaded[i*m : (i+1)*m]
			l.ring = make([]int64, c.cfg.Window)
		}
	}
}

func (c *client) closeAll() {
	c.mu.Lock()
	lanes := slices.Clone(c.lanes)
	c.closed = true
	c.mu.Unlock()
	for _, l := range lanes {
		if l != nil {
			l.close()
		}
	}
}
