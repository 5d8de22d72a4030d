//go:build linux

package echoconn

import (
	"context"
	"sync"

	"transportbench/transports/echo"
	"transportbench/transports/raknet"
	"transportbench/transports/wire"
)

// group sorts the connections of one raknet.Listener by shard. Whoever accepts fetches the next connection for all.
type group struct {
	l     *raknet.Listener
	cfg   wire.Config
	fetch chan struct{} // holds a token while nobody fetches
	queue []chan *raknet.Conn
	once  sync.Once
}

// listener is one shard of a group.
type listener struct {
	g     *group
	shard int
}

func split(l *raknet.Listener, cfg wire.Config) []echo.Listener {
	g := &group{l: l, cfg: cfg, fetch: make(chan struct{}, 1)}
	g.fetch <- struct{}{}
	var out []echo.Listener
	for i := range cfg.Listeners {
		g.queue = append(g.queue, make(chan *raknet.Conn, maxConnections))
		out = append(out, &listener{g, i})
	}
	return out
}

// Accept returns the next connection of the shard.
func (l *listener) Accept(ctx context.Context) (echo.Conn, error) {
	for {
		select { // first: while fetching, nothing is taken from the queue
		case c := <-l.g.queue[l.shard]:
			return newConn(c, l.g.cfg)
		default:
		}
		select {
		case c := <-l.g.queue[l.shard]:
			return newConn(c, l.g.cfg)
		case <-l.g.fetch:
			c, err := l.g.l.Accept(ctx)
			if err == nil {
				l.g.queue[c.Shard()] <- c // before the token: whoever takes it must see the connection
			}
			l.g.fetch <- struct{}{}
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Addr is the address of all shards.
func (l *listener) Addr() string { return l.g.l.Addr().String() }

// Close closes the whole group.
func (l *listener) Close() error {
	var err error
	l.g.once.Do(func() { err = l.g.l.Close() })
	return err
}
