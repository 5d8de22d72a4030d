// Package relay stands between a client and a server and makes the path between them bad on purpose, reproducibly.
//
// One relay listens for datagrams and for streams on the same port, so whoever uses it need not know what a driver speaks.
package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Impairment says what a relay does to the traffic. The zero value passes everything on. Rates are per datagram and direction, in parts per million.
type Impairment struct {
	Seed      uint64
	DropPPM   int  // datagrams that vanish
	RepeatPPM int  // datagrams that arrive twice
	HoldPPM   int  // datagrams that are overtaken by up to three later ones
	JunkPPM   int  // datagrams that are followed by random ones, to both sides, from the peer's and from a foreign address
	Split     bool // streams: arbitrary segment sizes and short delays
	JunkConns int  // streams: foreign connections to the server that send random bytes
}

// Stats counts what passed, both directions together.
type Stats struct {
	Datagrams, Dropped, Repeated, Held, Junk int64
	Connections, StreamBytes                 int64
}

// Relay is one running relay.
type Relay struct {
	server netip.AddrPort
	imp    Impairment
	udp    *net.UDPConn
	tcp    *net.TCPListener
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex // guards what follows
	peers map[netip.AddrPort]*peer
	open  map[net.Conn]struct{}
	ended bool

	datagrams, dropped, repeated, held, junk, connections, bytes atomic.Int64
}

// maxPeers bounds the client addresses that a relay serves at a time.
const maxPeers = 4096

// New starts a relay on a free port of 127.0.0.1 that forwards to server. Close stops it and waits for its goroutines.
func New(ctx context.Context, server netip.AddrPort, imp Impairment) (*Relay, error) {
	tcp, udp, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Relay{
		server: server, imp: imp, udp: udp, tcp: tcp, cancel: cancel,
		peers: map[netip.AddrPort]*peer{}, open: map[net.Conn]struct{}{},
	}
	context.AfterFunc(ctx, r.closeAll)
	r.wg.Go(r.forwardDatagrams)
	r.wg.Go(r.acceptStreams)
	for i := range imp.JunkConns {
		r.wg.Go(func() { r.junkStream(ctx, i) })
	}
	return r, nil
}

// listenTries bounds the search for a port that is free for both protocols.
const listenTries = 50

func listen(ctx context.Context) (*net.TCPListener, *net.UDPConn, error) {
	var last error
	for range listenTries {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, nil, fmt.Errorf("relay: %w", err)
		}
		u, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(l.Addr().(*net.TCPAddr).AddrPort()))
		if err == nil {
			return l.(*net.TCPListener), u, nil
		}
		last = err
		_ = l.Close()
	}
	return nil, nil, fmt.Errorf("relay: no port is free for both protocols: %w", last)
}

// Addr is where clients connect.
func (r *Relay) Addr() netip.AddrPort { return r.tcp.Addr().(*net.TCPAddr).AddrPort() }

// Close ends all forwarding and returns the final counts.
func (r *Relay) Close() Stats {
	r.cancel()
	r.closeAll()
	r.wg.Wait()
	return Stats{
		Datagrams: r.datagrams.Load(), Dropped: r.dropped.Load(), Repeated: r.repeated.Load(), Held: r.held.Load(),
		Junk: r.junk.Load(), Connections: r.connections.Load(), StreamBytes: r.bytes.Load(),
	}
}

func (r *Relay) closeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	_ = r.udp.Close()
	_ = r.tcp.Close()
	for c := range r.open {
		_ = c.Close()
	}
}

// track remembers c so that Close ends it; false says that the relay has ended already and c is closed.
func (r *Relay) track(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		_ = c.Close()
		return false
	}
	r.open[c] = struct{}{}
	return true
}

func (r *Relay) forget(c net.Conn) {
	_ = c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}
