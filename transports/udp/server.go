//go:build linux

package udp

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// server is one run of the server role.
type server struct {
	cfg       wire.Config
	shape     shape
	stopping  atomic.Bool
	listeners []*listener
}

// listener echoes what one socket receives, on a thread of its own.
type listener struct {
	fd    int
	rx    *receiver
	tx    *sender
	fault *fault
	stop  *atomic.Bool

	peers  map[peer]struct{} // everyone who sent something
	last   peer              // spares the map when the same peer sends again
	echoes int64             // datagrams
	err    error
}

// serve plays the server until a signal, the end of standard input (with -stop-on-eof) or the deadline.
func (d *driver) serve(cfg wire.Config) error {
	s := &server{cfg: cfg}
	var err error
	if s.shape, err = newShape(cfg.Payload, cfg.MTU); err != nil {
		return err
	}
	if err := d.hello(cfg); err != nil {
		return err
	}
	defer s.close()
	addr, err := s.listen()
	if err != nil {
		return fmt.Errorf("listen on %s: %w", cfg.Addr, err)
	}
	if err := d.out.Write(wire.Ready{Addr: addr.String()}); err != nil {
		return err
	}
	if err := d.echoUntilStop(s); err != nil {
		return err
	}
	done, err := s.done()
	if err != nil {
		return err
	}
	return d.out.Write(done)
}

// echoUntilStop runs a thread for each listener and waits for all of them, so that the counts are final.
func (d *driver) echoUntilStop(s *server) error {
	failed := make(chan struct{}, len(s.listeners))
	var running sync.WaitGroup
	for _, l := range s.listeners {
		running.Go(func() {
			if l.err = l.run(); l.err != nil {
				failed <- struct{}{}
			}
		})
	}
	late := d.waitForStop(s.cfg, failed)
	s.interrupt()
	running.Wait()
	if err := s.failure(); err != nil {
		return err
	}
	return late
}

// listen opens the sockets. The first decides the port when the flag leaves it open.
func (s *server) listen() (netip.AddrPort, error) {
	at, spent := s.cfg.Addr, &atomic.Bool{}
	for range s.cfg.Listeners {
		fd, err := openSocket(at, requested(s.cfg), s.cfg.Listeners > 1)
		if err != nil {
			return at, err
		}
		s.listeners = append(s.listeners, &listener{
			fd: fd, rx: newReceiver(s.shape.largest(), true), tx: &sender{gso: s.cfg.GSO},
			fault: newFault(s.cfg, s.shape, spent), stop: &s.stopping, peers: map[peer]struct{}{},
		})
		if at, err = localAddr(fd); err != nil {
			return at, err
		}
	}
	return at, nil
}

// interrupt wakes the threads: a receive on a socket that was shut down returns at once, although an unconnected UDP socket
// reports ENOTCONN for the shutdown itself.
func (s *server) interrupt() {
	s.stopping.Store(true)
	for _, l := range s.listeners {
		_ = unix.Shutdown(l.fd, unix.SHUT_RDWR)
	}
}

func (s *server) close() {
	for _, l := range s.listeners {
		_ = unix.Close(l.fd) // the counts are taken, nothing is lost
	}
}

func (s *server) failure() error {
	for i, l := range s.listeners {
		if l.err != nil {
			return fmt.Errorf("listener %d: %w", i, l.err)
		}
	}
	return nil
}

// done counts whole messages; without loss they equal the client's.
func (s *server) done() (wire.Done, error) {
	set := settings(s.cfg)
	got, err := granted(s.listeners[0].fd)
	if err != nil {
		return wire.Done{}, err
	}
	set.RcvBufGranted, set.SndBufGranted = got.receive, got.send
	done := wire.Done{PerListener: make([]int64, len(s.listeners)), Settings: &set}
	for i, l := range s.listeners {
		n := l.echoes / int64(s.shape.fragments)
		done.Connections += int64(len(l.peers))
		done.Messages += n
		done.PerListener[i] = n
		set.GSO = set.GSO && l.tx.gso
	}
	return done, nil
}

// run echoes until the stop. The thread blocks only in the receive.
func (l *listener) run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		n, err := l.rx.receive(l.fd, true)
		if err != nil {
			return err
		}
		if l.stop.Load() {
			return nil
		}
		for i := range n {
			if !l.tx.room(l.most()) {
				if err := l.tx.flush(l.fd); err != nil {
					return err
				}
			}
			l.echo(&l.rx.peers[i], l.rx.datagram(i))
		}
		if err := l.tx.flush(l.fd); err != nil {
			return err
		}
	}
}

// most is how many datagrams the echo of one can be.
func (l *listener) most() int {
	if l.fault != nil {
		return 2
	}
	return 1
}

func (l *listener) echo(from *peer, d []byte) {
	if *from != l.last {
		l.last = *from
		l.peers[*from] = struct{}{}
	}
	if l.fault != nil {
		l.echoes += int64(l.fault.echo(l.tx, from, d))
		return
	}
	l.tx.add(from, nil, d)
	l.echoes++
}

func (d *driver) waitForStop(cfg wire.Config, failed <-chan struct{}) error {
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
	case <-failed:
	case <-deadline.C:
		return fmt.Errorf("server was not stopped within %v: %w", cfg.Deadline, context.DeadlineExceeded)
	}
	return nil
}

// settings are those of the process; the buffers are what this driver requests.
func settings(cfg wire.Config) wire.Settings {
	s := echo.ProcessSettings(cfg)
	want := requested(cfg)
	s.RcvBufRequested, s.SndBufRequested = want.receive, want.send
	if s.MTU == 0 {
		s.MTU = defaultDatagram
	}
	s.GSO = cfg.GSO
	return s
}
