package echo

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"transportbench/transports/wire"
)

const (
	// stopGrace is how long connections may take to end once they are closed; the runner kills after 5 s.
	stopGrace = 2 * time.Second
	// acceptPause keeps a listener that fails over and over from spinning.
	acceptPause = 20 * time.Millisecond
)

// server is one run of the server role.
type server struct {
	transport Transport
	cfg       wire.Config
	log       *logger
	fault     *fault
	rooms     *roomPool

	wg     sync.WaitGroup
	mu     sync.Mutex // guards what follows
	open   map[Conn]struct{}
	closed bool
	done   wire.Done
}

// serve plays the server until a signal, the end of standard input (with -stop-on-eof) or the deadline.
func (d *driver) serve(cfg wire.Config) error {
	if err := d.hello(ProcessSettings(cfg)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &server{
		transport: d.transport, cfg: cfg, log: &logger{w: d.stderr}, fault: newFault(cfg), rooms: newRoomPool(cfg.Payload),
		open: map[Conn]struct{}{},
	}
	listeners, err := s.listen(ctx)
	if err != nil {
		return err
	}
	if err := d.out.Write(wire.Ready{Addr: listeners[0].Addr()}); err != nil {
		return err
	}
	for i, l := range listeners {
		s.wg.Go(func() { s.accept(ctx, i, l) })
	}
	late := d.waitForStop(cfg)
	cancel()
	if err := s.end(listeners); err != nil {
		return err
	}
	if late != nil {
		return late
	}
	return d.out.Write(s.done)
}

func (s *server) listen(ctx context.Context) ([]Listener, error) {
	listeners, err := s.transport.Listen(ctx, s.cfg)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", s.cfg.Addr, err)
	}
	if len(listeners) == 0 {
		return nil, fmt.Errorf("listen on %s: the transport opened no listener", s.cfg.Addr)
	}
	s.done.PerListener = make([]int64, len(listeners))
	return listeners, nil
}

func (d *driver) waitForStop(cfg wire.Config) error {
	eof := make(chan struct{})
	if cfg.StopOnEOF {
		go func() { // ends with standard input, or with the process
			_, _ = io.Copy(io.Discard, d.stdin)
			close(eof)
		}()
	}
	deadline := time.NewTimer(cfg.Deadline)
	defer deadline.Stop()
	select {
	case <-d.stop:
	case <-eof:
	case <-deadline.C:
		return fmt.Errorf("server was not stopped within %v: %w", cfg.Deadline, context.DeadlineExceeded)
	}
	return nil
}

// end closes everything and waits for the goroutines, so that the counts are final.
func (s *server) end(listeners []Listener) error {
	finished := make(chan struct{})
	go func() { // ends with the last connection; a transport that hangs keeps it until the process is gone
		for _, l := range listeners {
			_ = l.Close()
		}
		s.closeAll()
		s.wg.Wait()
		close(finished)
	}()
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-finished:
		return nil
	case <-grace.C:
		return fmt.Errorf("server did not end within %v of being stopped", stopGrace)
	}
}

func (s *server) closeAll() {
	s.mu.Lock()
	s.closed = true
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for c := range open {
		_ = c.Close()
	}
}

func (s *server) accept(ctx context.Context, i int, l Listener) {
	for {
		conn, err := l.Accept(ctx)
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		if err != nil {
			s.log.printf("accept on listener %d: %v", i, err)
			pause(ctx, acceptPause)
			continue
		}
		if s.admit(conn) {
			s.wg.Go(func() { s.echo(i, conn) })
		}
	}
}

// admit counts a connection, or closes it when the server has ended meanwhile.
func (s *server) admit(conn Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.Close()
		return false
	}
	if s.done.Connections == 0 {
		settings := ProcessSettings(s.cfg)
		conn.Settings(&settings)
		s.done.Settings = &settings
	}
	s.open[conn] = struct{}{}
	s.done.Connections++
	return true
}

// echo serves one connection to its end and adds its messages to the counts.
func (s *server) echo(listener int, conn Conn) {
	n, err := s.echoAll(conn)
	s.mu.Lock()
	_, mine := s.open[conn] // else closeAll has it: a connection is closed once
	delete(s.open, conn)
	s.done.Messages += n
	s.done.PerListener[listener] += n
	s.mu.Unlock()
	if !mine {
		return
	}
	if !peerGone(err) {
		s.log.printf("connection ended after %d messages: %v", n, err)
	}
	_ = conn.Close()
}
