package echo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"transportbench/transports/wire"
)

// pipeNet is a reliable ordered transport inside one process. Its hooks break it on purpose.
type pipeNet struct {
	backlog chan Conn
	delay   time.Duration // per received message, so that virtual time moves
	desc    wire.Describe

	waits    bool // connections implement Waiter
	dial     func(ctx context.Context, index int) error
	stuck    chan struct{} // not nil: Recv and Close of the client's side hang until it is closed
	stuckSrv chan struct{} // the same for the server's side
}

func newPipeNet() *pipeNet {
	return &pipeNet{backlog: make(chan Conn, 64), delay: time.Microsecond, desc: wire.Describe{
		Transport: "pipe", APIs: []string{wire.APISend, wire.APIBatch}, Reliable: true, Encryption: "none",
		Limits: wire.Limits{MaxPayload: 5000, MaxConnections: 100},
	}}
}

func (p *pipeNet) Describe() wire.Describe { return p.desc }

func (p *pipeNet) Listen(_ context.Context, cfg wire.Config) ([]Listener, error) {
	if cfg.Addr.Port() == 9 {
		return nil, errors.New("port 9 is taken")
	}
	var all []Listener
	for range cfg.Listeners {
		all = append(all, &pipeListener{net: p, closed: make(chan struct{})})
	}
	return all, nil
}

func (p *pipeNet) Dial(ctx context.Context, _ wire.Config, index int) (Conn, error) {
	if p.dial != nil {
		if err := p.dial(ctx, index); err != nil {
			return nil, err
		}
	}
	up, down := newQueue(), newQueue()
	server := p.wrap(&pipeConn{in: up, out: down, delay: p.delay, stuck: p.stuckSrv})
	select {
	case p.backlog <- server:
		return p.wrap(&pipeConn{in: down, out: up, delay: p.delay, stuck: p.stuck}), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipeNet) wrap(c *pipeConn) Conn {
	if p.waits {
		return &waitingConn{pipeConn: c}
	}
	return c
}

type pipeListener struct {
	net    *pipeNet
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept(context.Context) (Conn, error) {
	select {
	case c := <-l.net.backlog:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Addr() string { return "127.0.0.1:7" }
func (l *pipeListener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

// queue is one direction: messages, then the end as either side declares it.
type queue struct {
	msgs         chan []byte
	senderGone   chan struct{}
	receiverGone chan struct{}
}

func newQueue() *queue {
	return &queue{msgs: make(chan []byte, 256), senderGone: make(chan struct{}), receiverGone: make(chan struct{})}
}

type pipeConn struct {
	in, out *queue
	delay   time.Duration
	stuck   chan struct{}
	once    sync.Once
}

func (c *pipeConn) Send(b []byte) error {
	select {
	case <-c.out.senderGone:
		return net.ErrClosed
	default:
	}
	select {
	case c.out.msgs <- append([]byte(nil), b...):
		return nil
	case <-c.out.senderGone:
		return net.ErrClosed
	case <-c.out.receiverGone:
		return fmt.Errorf("pipe: %w", io.ErrUnexpectedEOF)
	}
}

func (c *pipeConn) Recv(b []byte) (int, error) {
	if c.stuck != nil {
		<-c.stuck
	}
	time.Sleep(c.delay)
	select {
	case m := <-c.in.msgs:
		return fit(b, m)
	default:
	}
	select {
	case m := <-c.in.msgs:
		return fit(b, m)
	case <-c.in.receiverGone:
		return 0, net.ErrClosed
	case <-c.in.senderGone:
	}
	select {
	case m := <-c.in.msgs: // sent before the end
		return fit(b, m)
	default:
		return 0, io.EOF
	}
}

func fit(b, m []byte) (int, error) {
	if len(m) > len(b) {
		return 0, fmt.Errorf("pipe: %w", ErrTooLong)
	}
	return copy(b, m), nil
}

func (c *pipeConn) SendBatch(msgs [][]byte) error {
	for _, m := range msgs {
		if err := c.Send(m); err != nil {
			return err
		}
	}
	return nil
}

func (c *pipeConn) RecvBatch(bufs [][]byte) (int, error) {
	n, err := c.Recv(bufs[0])
	if err != nil {
		return 0, err
	}
	bufs[0] = bufs[0][:n]
	for i := 1; i < len(bufs); i++ {
		select {
		case m := <-c.in.msgs:
			bufs[i] = bufs[i][:copy(bufs[i], m)]
		default:
			return i, nil
		}
	}
	return len(bufs), nil
}

// waitingConn is a pipeConn that can wait: it keeps one message back.
type waitingConn struct {
	*pipeConn
	held []byte
}

func (c *waitingConn) Wait() error {
	if c.held != nil {
		return nil
	}
	b := make([]byte, 8192)
	n, err := c.pipeConn.Recv(b)
	if err == nil {
		c.held = b[:n]
	}
	return err
}

func (c *waitingConn) Recv(b []byte) (int, error) {
	if err := c.Wait(); err != nil {
		return 0, err
	}
	m := c.held
	c.held = nil
	return fit(b, m)
}

func (c *waitingConn) RecvBatch(bufs [][]byte) (int, error) {
	n, err := c.Recv(bufs[0])
	if err != nil || len(bufs) == 1 {
		return min(1, n), err
	}
	bufs[0] = bufs[0][:n]
	for i := 1; i < len(bufs); i++ {
		select {
		case m := <-c.in.msgs:
			bufs[i] = bufs[i][:copy(bufs[i], m)]
		default:
			return i, nil
		}
	}
	return len(bufs), nil
}

func (c *pipeConn) Settings(s *wire.Settings) { s.CongestionControl = "none" }

func (c *pipeConn) Close() error {
	if c.stuck != nil {
		<-c.stuck
	}
	c.once.Do(func() { close(c.out.senderGone); close(c.in.receiverGone) })
	return nil
}
