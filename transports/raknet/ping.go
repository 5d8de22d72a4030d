//go:build linux

package raknet

import (
	"context"
	"net/netip"
	"time"

	"transportbench/transports/raknet/internal/codec"
	"transportbench/transports/raknet/internal/sock"
)

// Pong is a server's answer to an unconnected ping.
type Pong struct {
	Data []byte // the server's advertisement; Bedrock Edition separates its fields by semicolons
	GUID int64
	RTT  time.Duration
}

// pingEvery is the time between two tries of Ping.
const pingEvery = 500 * time.Millisecond

// Ping asks the server at addr for its advertisement, again and again until an answer or the end of ctx; without an end it gives up
// after ten seconds. Of the options it uses GUID, LocalAddr and Resolve.
func Ping(ctx context.Context, addr string, o *DialOptions) (Pong, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return Pong{}, err
	}
	peer, err := resolve(ctx, addr, opts.Resolve)
	if err != nil {
		return Pong{}, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, dialTimeout, ErrTimeout)
		defer cancel()
	}
	p, err := ping(ctx, peer, &opts)
	if err != nil {
		return Pong{}, &OpError{Op: "ping", Addr: peer, Err: err}
	}
	return p, nil
}

func ping(ctx context.Context, peer netip.AddrPort, o *DialOptions) (Pong, error) {
	fd, _, err := openClient(peer, o, Tuning{})
	if err != nil {
		return Pong{}, err
	}
	defer sock.Close(fd)
	w, err := sock.NewWaiter()
	if err != nil {
		return Pong{}, err
	}
	defer w.Close()
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(stopped); w.Kick() })
	defer func() {
		if !stop() {
			<-stopped // the kick must not hit a descriptor that is closed
		}
	}()
	return pingLoop(ctx, fd, w, o.GUID)
}

func pingLoop(ctx context.Context, fd int, w *sock.Waiter, guid int64) (Pong, error) {
	clock := sock.Monotonic(time.Now())
	rx, tx := sock.NewReceiver(4), new(sock.Sender)
	for next := int64(0); ; {
		if ctx.Err() != nil {
			return Pong{}, context.Cause(ctx)
		}
		now := clock()
		if now >= next {
			next = now + int64(pingEvery)
			tx.One(fd, codec.Ping{Time: now, GUID: guid}.Append(nil), nil)
		}
		w.Wait(fd, next-now)
		for i := range rx.Receive(fd) {
			b, _, _ := rx.Datagram(i)
			var p codec.Pong
			if len(b) == 0 || b[0] != codec.IDUnconnectedPong || p.Decode(b) != nil {
				continue
			}
			rtt := clock() - p.Time
			if p.Time < 0 || rtt < 0 { // not an echo of ours
				continue
			}
			return Pong{Data: append([]byte(nil), p.Data...), GUID: p.GUID, RTT: time.Duration(rtt)}, nil
		}
	}
}
