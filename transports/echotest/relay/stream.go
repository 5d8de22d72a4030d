package relay

import (
	"context"
	"net"
	"sync"
	"time"
)

const (
	maxSegment   = 4096                   // bytes of one write when streams are split
	pausePPM     = 20_000                 // segments that wait
	maxPause     = 500 * time.Microsecond // at most
	junkBytes    = 4096                   // per foreign connection
	junkLifetime = 200 * time.Millisecond // a foreign connection stays open as long
)

// acceptStreams serves clients that speak a stream protocol. It ends when the listener is closed.
func (r *Relay) acceptStreams() {
	for number := uint64(0); ; number++ {
		c, err := r.tcp.Accept()
		if err != nil {
			if r.hasEnded() {
				return
			}
			continue
		}
		if !r.track(c) {
			return
		}
		r.connections.Add(1)
		r.wg.Go(func() { r.stream(c.(*net.TCPConn), number) })
	}
}

// stream joins a client with a connection of its own to the server. It returns when both directions have ended.
func (r *Relay) stream(client *net.TCPConn, number uint64) {
	defer r.forget(client)
	up, err := net.Dial("tcp4", r.server.String())
	if err != nil || !r.track(up) {
		return
	}
	defer r.forget(up)
	server := up.(*net.TCPConn)
	var both sync.WaitGroup
	both.Go(func() { r.copyStream(server, client, newDice(r.imp.Seed, 2*number)) })
	both.Go(func() { r.copyStream(client, server, newDice(r.imp.Seed, 2*number+1)) })
	both.Wait()
}

// copyStream forwards bytes and, at their end, the end; an error of either side cuts the whole connection.
func (r *Relay) copyStream(dst, src *net.TCPConn, d *dice) {
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		r.bytes.Add(int64(n))
		if werr := r.writeStream(dst, buf[:n], d); werr != nil {
			_ = src.Close()
			return
		}
		if err != nil {
			_ = dst.CloseWrite()
			return
		}
	}
}

// writeStream writes b in one piece, or in arbitrary pieces with pauses between some of them.
func (r *Relay) writeStream(dst *net.TCPConn, b []byte, d *dice) error {
	for len(b) > 0 {
		n := len(b)
		if r.imp.Split {
			n = min(n, 1+d.below(maxSegment))
			if d.hit(pausePPM) {
				time.Sleep(time.Duration(d.below(int(maxPause))))
			}
		}
		if _, err := dst.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// junkStream is a foreign connection to the server that sends random bytes. A server that speaks datagrams refuses it, which is fine.
func (r *Relay) junkStream(ctx context.Context, number int) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp4", r.server.String())
	if err != nil || !r.track(c) {
		return
	}
	defer r.forget(c)
	b := make([]byte, junkBytes)
	newDice(r.imp.Seed, 1<<32+uint64(number)).fill(b)
	if _, err := c.Write(b); err != nil {
		return
	}
	r.junk.Add(1)
	_ = c.SetReadDeadline(time.Now().Add(junkLifetime))
	for {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}
