//go:build linux

package raknet

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"

	"transportbench/transports/raknet/internal/core"
	"transportbench/transports/raknet/internal/sock"
)

const serverBatch = 32 // datagrams read in one call

// Listener accepts connections on one UDP address.
type Listener struct {
	opts    ListenOptions
	addr    netip.AddrPort
	guid    int64
	shards  []*shard
	accepts chan *Conn
	half    atomic.Int64 // handshakes under way, all shards
	closed  chan struct{}
	once    atomic.Bool
}

// endpoint is the listening half of a shard.
type endpoint struct {
	l       *Listener
	peers   peerTable
	offline core.Offline
	replies core.Outbox
}

// Listen binds addr, an IP:PORT such as "0.0.0.0:19132" or "[::]:19132", and starts to answer.
func Listen(addr string, o *ListenOptions) (*Listener, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w: listen address %q is not IP:PORT", ErrOption, addr)
	}
	l := &Listener{
		opts: opts, addr: ap, guid: randomGUID(), closed: make(chan struct{}),
		accepts: make(chan *Conn, opts.Backlog),
	}
	secret := [2]uint64{random64(), random64()}
	for range opts.Shards {
		if err := l.addShard(secret); err != nil {
			l.stop()
			return nil, &OpError{Op: "listen", Addr: ap, Err: err}
		}
	}
	for _, sh := range l.shards {
		sh.background = true
		go sh.run() // ends with Close
	}
	return l, nil
}

// addShard opens one more socket on the address; the first settles the port. The kernel hashes a peer always to the same socket.
func (l *Listener) addShard(secret [2]uint64) error {
	fd, err := sock.Open(l.addr, sock.Options{ReusePort: l.opts.Shards > 1, RcvBuf: l.opts.RcvBuf, SndBuf: l.opts.SndBuf})
	if err != nil {
		return err
	}
	if l.addr, err = sock.Local(fd); err != nil {
		sock.Close(fd)
		return err
	}
	sh, err := newShard(l.opts.config(false, l.guid), l.opts.Spin, l.opts.GSO, serverBatch)
	if err != nil {
		sock.Close(fd)
		return err
	}
	sh.fd, sh.number = fd, len(l.shards)
	share := func(total int) int { return (total + l.opts.Shards - 1) / l.opts.Shards }
	sh.server = &endpoint{l: l, peers: peerTable{seed: random64()}, offline: core.Offline{
		GUID: l.guid, MaxMTU: l.opts.MaxMTU, Cookies: !l.opts.NoCookies, PongData: l.opts.PongData,
		Keys:  func() [2]uint64 { return [2]uint64{random64(), random64()} },
		Pongs: &core.Limiter{PerAddr: l.opts.PongsPerAddr, Total: share(l.opts.PongsTotal), Seed: secret},
	}}
	l.shards = append(l.shards, sh)
	return nil
}

// Accept waits for the next connection whose handshake is over.
func (l *Listener) Accept(ctx context.Context) (*Conn, error) {
	select {
	case c := <-l.accepts:
		return c, nil
	default:
	}
	select {
	case c := <-l.accepts:
		return c, nil
	case <-l.closed:
		return nil, &OpError{Op: "accept", Addr: l.addr, Err: ErrClosed}
	case <-ctx.Done():
		return nil, &OpError{Op: "accept", Addr: l.addr, Err: ctx.Err()}
	}
}

// Addr is the bound address.
func (l *Listener) Addr() netip.AddrPort { return l.addr }

// GUID is the identity that the listener announces.
func (l *Listener) GUID() int64 { return l.guid }

// SetPongData changes the answer to unconnected pings; the slice must not be changed afterwards.
func (l *Listener) SetPongData(b []byte) error {
	if len(b) > maxPongData {
		return fmt.Errorf("%w: pong data of %d bytes is over %d", ErrOption, len(b), maxPongData)
	}
	for _, sh := range l.shards {
		sh.mu.Lock()
		sh.server.offline.PongData = b
		sh.mu.Unlock()
	}
	return nil
}

// Close tells all peers and ends their connections, the sockets and the goroutines.
func (l *Listener) Close() error {
	if l.once.CompareAndSwap(false, true) {
		close(l.closed)
		l.stop()
	}
	return nil
}

func (l *Listener) stop() {
	for _, sh := range l.shards {
		sh.stop()
		if !sh.background {
			sh.mu.Lock()
			sh.shutdown()
			sh.mu.Unlock()
		}
	}
}
