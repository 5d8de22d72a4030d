//go:build linux

package udp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"transportbench/transports/wire"
)

// scanNS is how often a worker with several connections looks for lost echoes, and how long it sleeps at most.
const scanNS = 10_000_000

// errStopped ends a worker because something else went wrong; it is never shown.
var errStopped = errors.New("worker was stopped")

// worker drives some connections on one locked thread, which sends and receives for all of them.
type worker struct {
	plan       *plan
	conns      []*conn
	clock      clock
	deadlineNS int64
	stop       *atomic.Bool

	rx        *receiver
	tx        *sender
	messages  [batch][]byte         // payloads of what is queued in tx
	heads     [batch][headSize]byte // of fragments
	events    []unix.EpollEvent
	epoll     int // -1: there is one connection, and its socket itself is waited for
	busy      int // connections that are not idle in the current phase
	scannedNS int64
	calls     int64
}

func newWorker(p *plan, clock clock, deadlineNS int64, stop *atomic.Bool, gso bool, conns []*conn) (*worker, error) {
	w := &worker{plan: p, conns: conns, clock: clock, deadlineNS: deadlineNS, stop: stop, epoll: -1}
	w.rx, w.tx = newReceiver(p.shape.largest(), false), &sender{gso: gso}
	slab := make([]byte, batch/p.shape.fragments*p.shape.payload)
	for i := range batch / p.shape.fragments {
		w.messages[i] = slab[i*p.shape.payload:][:p.shape.payload]
		wire.BuildPayload(w.messages[i], 0, 0)
	}
	if len(conns) == 1 {
		return w, nil
	}
	return w, w.watch()
}

// watch makes one epoll set of all connections; its data is the position in conns.
func (w *worker) watch() (err error) {
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	w.events = make([]unix.EpollEvent, min(len(w.conns), 256))
	for i, c := range w.conns {
		if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}); err != nil {
			return fmt.Errorf("epoll: connection %d: %w", c.index, err)
		}
	}
	return nil
}

func (w *worker) close() {
	if w.epoll >= 0 {
		_ = unix.Close(w.epoll) // nothing depends on it any more
	}
}

// drive sends every message below until, window at a time, and returns when each was echoed or given up.
func (w *worker) drive(until uint64, window int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w.busy = 0
	for _, c := range w.conns {
		c.until, c.window = until, window
		if !c.idle() {
			w.busy++
		}
		if err := w.fill(c); err != nil {
			return err
		}
	}
	step := w.stepMany
	if w.epoll < 0 {
		step = w.stepOne
	}
	for w.busy > 0 {
		if err := step(); err != nil {
			return err
		}
		if w.stop.Load() {
			return errStopped
		}
	}
	return nil
}

// stepOne waits for echoes of the only connection; the socket's own timeout brings it back when none come.
func (w *worker) stepOne() error {
	if err := w.take(w.conns[0], true); err != nil {
		return err
	}
	return w.expire(w.conns[0], w.clock.now())
}

// stepMany serves every connection that has echoes, and now and then looks for lost ones.
func (w *worker) stepMany() error {
	n, err := w.wait()
	if err != nil {
		return err
	}
	for _, e := range w.events[:n] {
		c := w.conns[e.Fd]
		over := c.idle()
		if err := w.take(c, false); err != nil {
			return err
		}
		if over {
			continue // a straggler
		}
		if err := w.refill(c); err != nil {
			return err
		}
	}
	return w.scan()
}

// wait returns how many events there are, at the latest after the time of a scan.
func (w *worker) wait() (int, error) {
	at, n := unsafe.Pointer(&w.events[0]), uintptr(len(w.events))
	w.calls++
	got, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.epoll), uintptr(at), n, 0, 0, 0)
	if errno == 0 && got == 0 {
		w.calls++
		got, _, errno = unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.epoll), uintptr(at), n, scanNS/1_000_000, 0, 0)
	}
	if errno == unix.EINTR {
		return 0, nil
	}
	if errno != 0 {
		return 0, fmt.Errorf("epoll_pwait: %w", errno)
	}
	return int(got), nil
}

func (w *worker) scan() error {
	now := w.clock.now()
	if now-w.scannedNS < scanNS {
		return nil
	}
	w.scannedNS = now
	for _, c := range w.conns {
		if c.idle() {
			continue
		}
		if err := w.expire(c, now); err != nil {
			return err
		}
	}
	return nil
}

// errDeadline is completed by the client, which knows the flag.
var errDeadline = fmt.Errorf("client has no result: %w", context.DeadlineExceeded)

// expire gives up what c has lost by nowNS and uses its places again.
func (w *worker) expire(c *conn, nowNS int64) error {
	if nowNS >= w.deadlineNS {
		return errDeadline
	}
	c.expire(nowNS, w.plan.lostNS)
	return w.refill(c)
}

// refill uses free places of the window and notices when a connection that was busy has become idle.
func (w *worker) refill(c *conn) error {
	if c.idle() {
		w.busy--
		return nil
	}
	return w.fill(c)
}

// take receives and verifies what is there for c.
func (w *worker) take(c *conn, wait bool) error {
	n, err := w.rx.receive(c.fd, wait)
	if err != nil {
		return fmt.Errorf("connection %d: %w", c.index, err)
	}
	for i := range n {
		msg, fragment, err := w.plan.shape.check(w.rx.datagram(i), c.index)
		if err != nil {
			return err
		}
		if err := c.echoed(w.plan, msg, fragment, w.clock); err != nil {
			return err
		}
	}
	return nil
}

// fill sends as many messages as the window allows, in calls of up to batch datagrams. They carry the time of their call.
func (w *worker) fill(c *conn) error {
	for left := c.sendable(); left > 0; {
		n := min(left, batch/w.plan.shape.fragments)
		now := w.clock.now()
		for i := range n {
			w.queue(c, w.messages[i], i*w.plan.shape.fragments)
			c.flight.push(c.next, now, w.plan.shape.fragments)
			c.next++
		}
		if err := w.tx.flush(c.fd); err != nil {
			return fmt.Errorf("connection %d: %w", c.index, err)
		}
		left -= n
	}
	return nil
}

// queue makes b the next message of c and hands its datagrams to the sender; heads from head on are free.
func (w *worker) queue(c *conn, b []byte, head int) {
	binary.LittleEndian.PutUint64(b[1:9], c.index)
	wire.NumberPayload(b, c.next)
	s := &w.plan.shape
	if s.fragments == 1 {
		w.tx.add(nil, nil, b)
		return
	}
	for i := range s.fragments {
		h := w.heads[head+i][:]
		s.head(h, c.index, c.next, i)
		w.tx.add(nil, h, s.part(b, i))
	}
}
