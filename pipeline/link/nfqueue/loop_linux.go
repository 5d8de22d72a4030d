package nfqueue

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// burst bounds the packets taken from one queue before verdicts go out, so that held packets are not late.
const burst = 64

// maxWrite bounds the bytes of one write of verdicts, far below the smallest send buffer of a socket.
const maxWrite = 32 << 10

// loop is the state of the one goroutine that judges and releases.
type loop struct {
	*Server
	buf [4096]byte // one message: headers and copyRange
	out []byte     // verdict messages of one queue
	fds []unix.PollFd
}

// loop runs on a thread of its own with the finest timer the kernel gives: the Go timer wakes only to the millisecond when
// all goroutines sleep, and the default timer slack is 50 us (man 2 prctl, PR_SET_TIMERSLACK).
func (s *Server) loop() {
	defer close(s.done)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	l := &loop{Server: s}
	for _, q := range s.queues {
		l.fds = append(l.fds, unix.PollFd{Fd: int32(q.fd), Events: unix.POLLIN})
	}
	l.fds = append(l.fds, unix.PollFd{Fd: int32(s.wake), Events: unix.POLLIN})
	err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	if err != nil {
		err = fmt.Errorf("queue timer slack not set: %w", err)
	}
	for stop := false; err == nil && !stop; {
		stop, err = l.turn()
	}
	if err != nil {
		s.failed.Store(&err)
	}
}

// turn sleeps until a packet comes or is due, then serves every queue once.
func (l *loop) turn() (stop bool, err error) {
	if _, err := unix.Ppoll(l.fds, l.untilDue(), nil); err != nil && err != unix.EINTR {
		return false, fmt.Errorf("queues not polled: %w", err)
	}
	for i := range l.queues {
		l.out = l.out[:0]
		if l.fds[i].Revents != 0 {
			if err := l.receive(i); err != nil {
				return false, err
			}
		}
		if err := l.settle(i, l.now()); err != nil {
			return false, err
		}
	}
	if l.fds[len(l.fds)-1].Revents == 0 {
		return false, nil
	}
	return true, l.flushAll()
}

// receive judges what waits in one queue; more than a burst stays for the next turn, so that held packets are not late.
func (l *loop) receive(i int) error {
	for range burst {
		kind, body, ok, err := l.queues[i].read(l.buf[:])
		if err != nil || !ok {
			return err
		}
		if err := l.take(i, kind, body); err != nil {
			return err
		}
	}
	return nil
}

func (l *loop) take(i int, kind uint16, body []byte) error {
	if kind == nlmsgError {
		return verdictError(body)
	}
	if kind != msgPacket {
		return nil
	}
	p, err := parsePacket(body)
	if err != nil {
		return err
	}
	q, c := l.queues[i], &l.counts[i]
	c.judged.Add(1)
	due, drop := l.judge(q.number, p.payload, l.now())
	if drop {
		c.dropped.Add(1)
		l.out = appendVerdict(l.out, msgVerdict, q.number, verdictDrop, p.id)
		return nil
	}
	q.held.push(entry{p.id, due})
	return nil
}

// verdictError tells a refused verdict from one that came after the kernel had dropped the packet itself (a rule removed).
func verdictError(body []byte) error {
	if len(body) < 4 {
		return errShort
	}
	code := unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
	if code == 0 || code == unix.ENOENT {
		return nil
	}
	return fmt.Errorf("queue verdict refused: %w", code)
}

// settle sends the drops collected in out and accepts every packet due at nowNS: in order with one verdict for all, else
// each by itself.
func (l *loop) settle(i int, nowNS int64) error {
	q := l.queues[i]
	last, due := entry{}, false
	for {
		e, ok := q.held.front()
		if !ok || e.dueNS > nowNS {
			break
		}
		if late := nowNS - e.dueNS; late > l.counts[i].lateNS.Load() {
			l.counts[i].lateNS.Store(late)
		}
		q.held.pop()
		if last, due = e, true; q.held.sorted {
			l.out = appendVerdict(l.out, msgVerdict, q.number, verdictAccept, e.id)
		}
		if len(l.out) >= maxWrite {
			if err := l.write(q); err != nil {
				return err
			}
		}
	}
	if due && !q.held.sorted {
		l.out = appendVerdict(l.out, msgVerdictBatch, q.number, verdictAccept, last.id)
	}
	return l.write(q)
}

// write sends and empties out.
func (l *loop) write(q *queue) error {
	if len(l.out) == 0 {
		return nil
	}
	_, err := unix.Write(q.fd, l.out)
	l.out = l.out[:0]
	if err != nil {
		return fmt.Errorf("queue %d verdict not sent: %w", q.number, err)
	}
	return nil
}

// flushAll lets everything go that is still held.
func (l *loop) flushAll() error {
	const never = 1<<63 - 1
	for i := range l.queues {
		l.out = l.out[:0]
		if err := l.settle(i, never); err != nil {
			return err
		}
	}
	return nil
}

// untilDue is the time to the earliest due packet; nil waits for a packet.
func (l *loop) untilDue() *unix.Timespec {
	var first int64 = -1
	for _, q := range l.queues {
		if e, ok := q.held.front(); ok && (first < 0 || e.dueNS < first) {
			first = e.dueNS
		}
	}
	if first < 0 {
		return nil
	}
	ts := unix.NsecToTimespec(max(0, first-l.now()))
	return &ts
}

func (l *loop) now() int64 { return int64(time.Since(l.start)) }
