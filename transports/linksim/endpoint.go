package linksim

import (
	"container/heap"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/pion/transport/v5/deadline"
)

// Endpoint is a net.PacketConn on a Network.
type Endpoint struct {
	net   *Network
	addr  netip.AddrPort
	queue queue         // guarded by net.mu
	wake  chan struct{} // holds a token when the queue changed
	read  *deadline.Deadline
	write *deadline.Deadline
	once  sync.Once
	done  chan struct{}
}

var _ net.PacketConn = (*Endpoint)(nil)

func newEndpoint(n *Network, addr netip.AddrPort) *Endpoint {
	return &Endpoint{
		net: n, addr: addr, wake: make(chan struct{}, 1), done: make(chan struct{}),
		read: deadline.New(), write: deadline.New(),
	}
}

// ReadFrom waits for the next datagram that is due. A datagram longer than b is cut, as a UDP socket does.
func (e *Endpoint) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		if err := e.failed(e.read); err != nil {
			return 0, nil, e.fail("read", err)
		}
		p, wait, ok := e.pop()
		if ok {
			return copy(b, p.data), net.UDPAddrFromAddrPort(p.from), nil
		}
		e.await(wait)
	}
}

// pop takes the first datagram if it is due, else says how long until then; negative: nothing is queued.
func (e *Endpoint) pop() (packet, time.Duration, bool) {
	e.net.mu.Lock()
	defer e.net.mu.Unlock()
	if len(e.queue.packets) == 0 {
		return packet{}, -1, false
	}
	if wait := time.Until(e.queue.packets[0].due); wait > 0 {
		return packet{}, wait, false
	}
	p := heap.Pop(&e.queue).(packet)
	p.direction.took(p.number)
	if len(e.queue.packets) > 0 {
		e.signal() // for another reader
	}
	return p, 0, true
}

// await returns when the queue changed, the wait is over, the read deadline passed or the endpoint was closed.
func (e *Endpoint) await(wait time.Duration) {
	var due <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-e.wake:
	case <-due:
	case <-e.read.Done():
	case <-e.done:
	}
}

// push queues a copy. The caller holds net.mu.
func (e *Endpoint) push(p packet) {
	p.order = e.queue.pushed
	e.queue.pushed++
	heap.Push(&e.queue, p)
	e.signal()
}

func (e *Endpoint) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// WriteTo sends one datagram. Like UDP it never waits and does not say whether the datagram arrives.
func (e *Endpoint) WriteTo(b []byte, to net.Addr) (int, error) {
	if err := e.failed(e.write); err != nil {
		return 0, e.fail("write", err)
	}
	dst, err := addrPort(to)
	if err != nil {
		return 0, e.fail("write", err)
	}
	e.net.send(e.addr, dst, b)
	return len(b), nil
}

func addrPort(a net.Addr) (netip.AddrPort, error) {
	if udp, ok := a.(*net.UDPAddr); ok {
		ap := udp.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
	}
	if a == nil {
		return netip.AddrPort{}, errors.New("destination is missing")
	}
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("destination %s is not an IP address and port: %w", a, err)
	}
	return ap, nil
}

func (e *Endpoint) failed(d *deadline.Deadline) error {
	select {
	case <-e.done:
		return net.ErrClosed
	case <-d.Done():
		return os.ErrDeadlineExceeded
	default:
		return nil
	}
}

func (e *Endpoint) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "linksim", Source: e.LocalAddr(), Err: err}
}

// Close detaches the endpoint; what it had not read counts as Unreachable. Closing again is not an error.
func (e *Endpoint) Close() error {
	e.once.Do(func() {
		close(e.done)
		e.read.Set(time.Time{})
		e.write.Set(time.Time{})
		e.net.mu.Lock()
		defer e.net.mu.Unlock()
		delete(e.net.endpoints, e.addr)
		for _, p := range e.queue.packets {
			p.direction.stats.Queued--
			p.direction.stats.Unreachable++
		}
		e.queue.packets = nil
	})
	return nil
}

// AddrPort is the address of the endpoint.
func (e *Endpoint) AddrPort() netip.AddrPort { return e.addr }

// LocalAddr is the same as a *net.UDPAddr.
func (e *Endpoint) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(e.addr) }

// SetDeadline sets both deadlines; the zero time removes them.
func (e *Endpoint) SetDeadline(t time.Time) error {
	e.read.Set(t)
	e.write.Set(t)
	return nil
}

// SetReadDeadline makes ReadFrom fail with os.ErrDeadlineExceeded from t on, a waiting one included.
func (e *Endpoint) SetReadDeadline(t time.Time) error {
	e.read.Set(t)
	return nil
}

// SetWriteDeadline makes WriteTo fail with os.ErrDeadlineExceeded from t on.
func (e *Endpoint) SetWriteDeadline(t time.Time) error {
	e.write.Set(t)
	return nil
}

// SetReadBuffer is accepted because libraries ask for it; the bound is Path.QueuePackets.
func (e *Endpoint) SetReadBuffer(int) error { return nil }

// SetWriteBuffer is accepted because libraries ask for it; sending never waits.
func (e *Endpoint) SetWriteBuffer(int) error { return nil }
