//go:build linux

package udp

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"transportbench/transports/wire"
)

// client is one run of the client role.
type client struct {
	cfg     wire.Config
	env     environment
	out     *wire.Writer
	clock   clock
	plan    plan
	stop    atomic.Bool
	conns   []*conn
	workers []*worker
}

// measure plays the client.
func (d *driver) measure(cfg wire.Config) error {
	c := &client{cfg: cfg, env: d.env, out: d.out, clock: newClock()}
	if err := c.prepare(); err != nil {
		return err
	}
	if err := d.hello(cfg); err != nil {
		return err
	}
	defer c.close()
	interrupted := make(chan struct{})
	finished := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { // ends with the run
		select {
		case <-d.stop:
			close(interrupted)
			c.stop.Store(true)
		case <-finished:
		}
	})
	err := c.run()
	close(finished)
	watcher.Wait()
	if errors.Is(err, errStopped) {
		return wire.ErrInterrupted
	}
	return err
}

func (c *client) prepare() (err error) {
	rounds := c.cfg.Warmup + c.cfg.Samples
	c.plan = plan{
		window: c.cfg.Window, warmup: uint64(c.cfg.Warmup), rounds: uint64(rounds), total: uint64(rounds + c.cfg.Messages),
		loaded: c.cfg.Suite == wire.SuiteLoaded, lostNS: c.env.lostNS,
	}
	c.plan.shape, err = newShape(c.cfg.Payload, c.cfg.MTU)
	return err
}

func (c *client) run() error {
	if err := c.connect(); err != nil {
		return err
	}
	if err := c.hire(); err != nil {
		return err
	}
	if err := c.all(func(w *worker) error { return w.drive(c.plan.rounds, 1) }); err != nil {
		return err
	}
	startNS, err := c.burst()
	if err != nil {
		return err
	}
	return c.report(startNS)
}

// connect opens all sockets and writes the connected record. UDP has no handshake: setup is the sockets alone.
func (c *client) connect() error {
	began := c.clock.now()
	for i := range c.cfg.Connections {
		fd, err := dial(c.cfg.Addr, c.env.firstPort, i, requested(c.cfg), c.plan.lostNS)
		if err != nil {
			return err
		}
		c.conns = append(c.conns, newConn(i, fd, &c.plan))
	}
	setup := c.clock.now() - began
	s := settings(c.cfg)
	got, err := granted(c.conns[0].fd)
	if err != nil {
		return err
	}
	s.RcvBufGranted, s.SndBufGranted = got.receive, got.send
	return c.out.Write(wire.Connected{N: len(c.conns), SetupNS: setup, Settings: &s})
}

// hire gives each worker its share of the connections; the first ones take the remainder.
func (c *client) hire() error {
	n := threads(c.cfg)
	for i := range n {
		first, last := i*len(c.conns)/n, (i+1)*len(c.conns)/n
		w, err := newWorker(&c.plan, c.clock, c.cfg.Deadline.Nanoseconds(), &c.stop, c.cfg.GSO, c.conns[first:last])
		if err != nil {
			return err
		}
		c.workers = append(c.workers, w)
	}
	return nil
}

// all runs a phase on every worker and returns when the last has finished. The first failure stops the others.
func (c *client) all(phase func(*worker) error) error {
	errs := make([]error, len(c.workers))
	var running sync.WaitGroup
	for i, w := range c.workers {
		running.Go(func() {
			if errs[i] = phase(w); errs[i] != nil {
				c.stop.Store(true)
			}
		})
	}
	running.Wait()
	return cause(errs)
}

// cause prefers the error that stopped the others.
func cause(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, errStopped)) {
			first = err
		}
	}
	return first
}

// burst releases all workers together and returns when that was.
func (c *client) burst() (startNS int64, err error) {
	var ready sync.WaitGroup
	ready.Add(len(c.workers))
	release, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- c.all(func(w *worker) error {
			runtime.LockOSThread() // before the barrier: no thread is made inside the timed part
			defer runtime.UnlockOSThread()
			ready.Done()
			<-release
			return w.drive(c.plan.total, c.plan.window)
		})
	}()
	ready.Wait()
	startNS = c.clock.now()
	start := wire.Start{MonoNS: machineNS()}
	close(release)
	werr := c.out.Write(start)
	if err := <-done; err != nil {
		return 0, err
	}
	if werr != nil {
		return 0, fmt.Errorf("start record: %w", werr)
	}
	return startNS, nil
}

func (c *client) close() {
	for _, w := range c.workers {
		w.close()
	}
	for _, conn := range c.conns {
		_ = unix.Close(conn.fd) // everything was counted, nothing is lost
	}
}
