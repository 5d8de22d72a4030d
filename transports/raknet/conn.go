//go:build linux

package raknet

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"sync"
	"time"

	"transportbench/transports/raknet/internal/core"
	"transportbench/transports/raknet/internal/sock"
)

// Conn is one connection. All methods may be called from any goroutine; messages of concurrent senders interleave whole.
type Conn struct {
	sh     *shard
	s      *core.Session // nil while dialling
	dial   *core.Dial    // nil otherwise
	fd     int           // of a client
	addr   sock.Addr     // of a listener's peer
	peer   netip.AddrPort
	local  netip.AddrPort
	guid   int64
	failed error // why the handshake ended

	slot      int // of a client: epoll data
	half      bool
	gone      bool // out of the shard
	shut      bool // by Close
	dirty     bool
	ackListed bool
	timerPos  int
	timerAt   int64
	ackDue    int64
	ackNext   *Conn
	ackPrev   *Conn
	waiters   *waiter
	watched   <-chan struct{} // context whose end interrupts polling

	limits *limits // nil until a deadline is set

	pending *egress // where datagrams of c wait to be sent, or nil

	tx     sync.Mutex // held while datagrams of c are sent, so that they leave in order; taken only while holding mu
	packet []byte     // what a caller sends while it does not hold mu
}

func newConn(sh *shard, peer, local netip.AddrPort) *Conn {
	return &Conn{sh: sh, peer: peer, local: local, fd: -1, timerPos: -1, timerAt: never}
}

// route is where datagrams of c go out and to whom; nil on a connected socket.
func (c *Conn) route() (fd int, to *sock.Addr) {
	if c.sh.server != nil {
		return c.sh.fd, &c.addr
	}
	return c.fd, nil
}

// ready says whether a caller that waits for why has something to do.
func (c *Conn) ready(why purpose) bool {
	if c.gone || c.shut || c.failed != nil {
		return true
	}
	if c.s == nil {
		return false
	}
	switch why {
	case reading:
		return c.s.Unread() > 0
	case writing:
		return c.s.Err() != nil || c.s.HasRoom()
	case flushing:
		return !c.s.Unsent()
	}
	return c.s.Connected()
}

// Recv waits for the next message, copies it into b and returns its size. If b is too small the message stays where it is and Recv
// returns the size needed with io.ErrShortBuffer. After an orderly end by the peer it returns io.EOF.
func (c *Conn) Recv(ctx context.Context, b []byte) (int, error) {
	sh := c.sh
	sh.mu.Lock()
	msg, err := c.next(ctx, len(b))
	if err != nil {
		sh.mu.Unlock()
		return len(msg), c.fail("receive", err)
	}
	n := copy(b, msg)
	sh.pool.Put(msg)
	sh.mu.Unlock()
	return n, nil
}

// next waits for a message of at most room bytes and takes it. With io.ErrShortBuffer the message is only shown.
func (c *Conn) next(ctx context.Context, room int) ([]byte, error) {
	if c.s.Unread() == 0 {
		if err := c.awaitMessage(ctx); err != nil {
			return nil, err
		}
	}
	if msg := c.s.Peek(); len(msg) > room {
		return msg, io.ErrShortBuffer
	}
	msg, _ := c.s.Pop()
	c.sh.fed = true
	return msg, nil
}

func (c *Conn) awaitMessage(ctx context.Context) error {
	defer c.sh.leave()
	for c.s.Unread() == 0 {
		if err := c.over(); err != nil {
			return err
		}
		if err := c.sh.await(ctx, c, reading); err != nil {
			return err
		}
	}
	return nil
}

// over is why no message will come any more.
func (c *Conn) over() error {
	err := c.s.Err()
	switch {
	case c.shut:
		return ErrClosed
	case errors.Is(err, core.ErrPeerGone):
		return io.EOF
	}
	return err
}

// fail puts the operation and the peer before err. io.EOF and io.ErrShortBuffer stay bare, as readers compare them.
func (c *Conn) fail(op string, err error) error {
	if err == io.EOF || err == io.ErrShortBuffer {
		return err
	}
	return &OpError{Op: op, Addr: c.peer, Err: err}
}

// Flush waits until everything sent was acknowledged; unreliable messages count once they are on their way.
func (c *Conn) Flush(ctx context.Context) error {
	sh := c.sh
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if !c.s.Unsent() && c.s.Err() == nil {
		return nil
	}
	defer sh.leave()
	for c.s.Unsent() {
		if err := sh.await(ctx, c, flushing); err != nil {
			return c.fail("flush", err)
		}
	}
	if err := c.s.Err(); err != nil {
		return c.fail("flush", err)
	}
	return nil
}

// Close ends the connection. What was sent is still delivered in the background, within the linger time and while the process and
// the listener live; Flush before Close to be sure. Unread messages are dropped. Calls in progress return ErrClosed.
func (c *Conn) Close() error {
	sh := c.sh
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if c.shut {
		return nil
	}
	c.shut = true
	c.stopLimits()
	for b, ok := c.s.Pop(); ok; b, ok = c.s.Pop() {
		sh.pool.Put(b)
	}
	if !c.gone {
		now := sh.clock()
		sh.quiesce(c)
		c.s.Close(now)
		sh.emit(c, now, true)
	}
	sh.wakeAll(c)
	sh.kick()
	return nil
}

// RemoteAddr is the peer's address.
func (c *Conn) RemoteAddr() netip.AddrPort { return c.peer }

// LocalAddr is the address of the socket.
func (c *Conn) LocalAddr() netip.AddrPort { return c.local }

// Shard is the number of the shard that carries c, from 0, within its listener or client.
func (c *Conn) Shard() int { return c.sh.number }

// GUID is the peer's identity as it announced itself.
func (c *Conn) GUID() int64 { return c.guid }

// MTU is the nominal MTU in bytes, IP and UDP headers included.
func (c *Conn) MTU() int { return c.s.MTU() }

// Buffers returns the granted sizes of the socket's buffers in bytes, as the kernel counts them.
func (c *Conn) Buffers() (rcv, snd int) {
	c.sh.mu.Lock()
	defer c.sh.mu.Unlock()
	if fd, _ := c.route(); !c.gone && fd >= 0 {
		return sock.Buffers(fd)
	}
	return 0, 0
}

// PingRTT is the round trip that the last ping measured, in whole milliseconds as RakNet's clock has them.
func (c *Conn) PingRTT() time.Duration { return c.Stats().PingRTT }
