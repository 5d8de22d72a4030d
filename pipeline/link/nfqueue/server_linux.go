package nfqueue

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Judge decides about the next packet of a queue: drop it, or let it go at dueNS. Times count from Serve. Calls come from one
// goroutine, in the order of arrival. ip is at least the headers of the packet and valid only during the call.
type Judge func(queue uint16, ip []byte, nowNS int64) (dueNS int64, drop bool)

// Options say how queues hold their packets.
type Options struct {
	Limit   int  // packets that wait in one queue; more are dropped by the kernel and counted there
	Ordered bool // the judge never lets a packet go before an earlier one of its queue
}

// Count is what a queue did so far.
type Count struct {
	Judged  int64         // packets that reached the judge
	Dropped int64         // of these, dropped by it
	LateMax time.Duration // the longest that a packet stayed beyond its delay
}

// Server owns its queues and the goroutine that serves them. Without it every rule that names one of the queues drops all.
type Server struct {
	queues []*queue
	counts []count
	judge  Judge
	start  time.Time
	wake   int // eventfd that ends the loop
	done   chan struct{}
	failed atomic.Pointer[error]
}

type count struct{ judged, dropped, lateNS atomic.Int64 }

// Serve binds the queue numbers in the current network namespace and starts to judge packets, holding each survivor until it
// is due. Close ends it.
func Serve(numbers []uint16, o Options, judge Judge) (*Server, error) {
	s := &Server{judge: judge, start: time.Now(), done: make(chan struct{}), counts: make([]count, len(numbers)), wake: -1}
	for _, n := range numbers {
		q, err := bind(n, o)
		if err != nil {
			return nil, errors.Join(err, s.release())
		}
		s.queues = append(s.queues, q)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("queue event not created: %w", err), s.release())
	}
	s.wake = wake
	go s.loop() // ends with Close, or when a socket fails
	return s, nil
}

// Count returns the totals of the i-th queue.
func (s *Server) Count(i int) Count {
	c := &s.counts[i]
	// dropped first: a packet judged in between must not make more dropped than judged
	dropped := c.dropped.Load()
	return Count{Judged: c.judged.Load(), Dropped: dropped, LateMax: time.Duration(c.lateNS.Load())}
}

// Err says why the loop ended before Close, nil while it serves.
func (s *Server) Err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Close accepts what is still held, ends the loop and gives the queues back. Remove the rules first.
func (s *Server) Close() error {
	one := [8]byte{1}
	_, err := unix.Write(s.wake, one[:])
	if err == nil {
		<-s.done
	}
	return errors.Join(err, s.Err(), s.release())
}

func (s *Server) release() error {
	var errs []error
	for _, q := range s.queues {
		errs = append(errs, q.conn.Close())
	}
	if s.wake >= 0 {
		errs = append(errs, unix.Close(s.wake))
	}
	return errors.Join(errs...)
}
