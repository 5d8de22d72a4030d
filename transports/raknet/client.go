//go:build linux

package raknet

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"transportbench/transports/raknet/internal/core"
	"transportbench/transports/raknet/internal/sock"
)

const (
	maxClientShards = 4
	clientBatch     = 32 // datagrams read in one call
)

// Client dials connections that share up to four shards, and with them buffers and background goroutines.
type Client struct {
	tuning Tuning
	mu     sync.Mutex
	shards []*shard
	next   int
	closed bool
}

// NewClient returns a Client; nil means default tuning. The tuning of a Client replaces that of the options given to its Dial.
func NewClient(t *Tuning) (*Client, error) {
	c := new(Client)
	if t != nil {
		c.tuning = *t
	}
	return c, c.tuning.check()
}

// shared serves Dial. Sharing is what bounds the threads of a program that dials many connections.
var shared = sync.OnceValue(func() *Client { return new(Client) })

// Dial connects to a server at host:port. Without an end in ctx it gives up after ten seconds. Connections of one program share up
// to four shards, unless the options carry a tuning of their own.
func Dial(ctx context.Context, addr string, o *DialOptions) (*Conn, error) {
	if o == nil || o.Tuning == (Tuning{}) {
		return shared().Dial(ctx, addr, o)
	}
	c, err := NewClient(&o.Tuning)
	if err != nil {
		return nil, err
	}
	conn, err := c.Dial(ctx, addr, o)
	if err != nil {
		c.Close()
	}
	return conn, err
}

// Dial connects to a server at host:port. It may be called from several goroutines.
func (c *Client) Dial(ctx context.Context, addr string, o *DialOptions) (*Conn, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	peer, err := resolve(ctx, addr, opts.Resolve)
	if err != nil {
		return nil, err
	}
	sh, err := c.shard()
	if err != nil {
		return nil, &OpError{Op: "dial", Addr: peer, Err: err}
	}
	conn, err := sh.dialTo(ctx, peer, &opts, c.tuning)
	if err != nil {
		return nil, &OpError{Op: "dial", Addr: peer, Err: err}
	}
	return conn, nil
}

// shard picks the shard of the next connection, in turn.
func (c *Client) shard() (*shard, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	most := min(maxClientShards, runtime.GOMAXPROCS(0))
	if len(c.shards) < most {
		sh, err := newShard(c.tuning.config(true, 0), c.tuning.Spin, c.tuning.GSO, clientBatch)
		if err == nil {
			err = sh.wait.Prepare()
		}
		if err != nil {
			return nil, err
		}
		sh.background, sh.number = true, len(c.shards)
		c.shards = append(c.shards, sh)
		go sh.run() // ends with Close
	}
	sh := c.shards[c.next%len(c.shards)]
	c.next++
	return sh, nil
}

// Close ends all connections of c, without waiting for acknowledgements, and its goroutines.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, sh := range c.shards {
		sh.stop()
	}
	c.shards = nil
	return nil
}

func resolve(ctx context.Context, addr string, lookup func(context.Context, string) ([]netip.Addr, error)) (netip.AddrPort, error) {
	if ap, err := netip.ParseAddrPort(addr); err == nil {
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
	}
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return netip.AddrPort{}, fmt.Errorf("%w: address %q has no port", ErrOption, addr)
	}
	port, err := strconv.ParseUint(addr[i+1:], 10, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%w: address %q has no numeric port", ErrOption, addr)
	}
	if lookup == nil {
		return netip.AddrPort{}, fmt.Errorf("%w: host %q is a name, set DialOptions.Resolve", ErrOption, addr[:i])
	}
	ips, err := lookup(ctx, addr[:i])
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("host %q: %w", addr[:i], err)
	}
	if len(ips) == 0 {
		return netip.AddrPort{}, fmt.Errorf("host %q: %w", addr[:i], os.ErrNotExist)
	}
	return netip.AddrPortFrom(ips[0].Unmap(), uint16(port)), nil
}

func randomGUID() int64 { return int64(random64()) }

func random64() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	return binary.LittleEndian.Uint64(b[:])
}

// openClient makes the socket of a connection.
func openClient(peer netip.AddrPort, o *DialOptions, t Tuning) (fd int, local netip.AddrPort, err error) {
	bind := o.LocalAddr
	if !bind.IsValid() {
		ip := netip.IPv6Unspecified()
		if peer.Addr().Is4() {
			ip = netip.IPv4Unspecified()
		}
		bind = netip.AddrPortFrom(ip, 0)
	}
	if sock.Family(bind) != sock.Family(peer) {
		return -1, local, fmt.Errorf("%w: local address %s and peer are of different families", ErrOption, bind)
	}
	fd, err = sock.Open(bind, sock.Options{RcvBuf: t.RcvBuf, SndBuf: t.SndBuf})
	if err != nil {
		return -1, local, err
	}
	if err = sock.Connect(fd, peer); err == nil {
		err = sock.DontFragment(fd, true, !peer.Addr().Is4())
	}
	if err == nil {
		local, err = sock.Local(fd)
	}
	if err != nil {
		sock.Close(fd)
		return -1, local, err
	}
	return fd, local, nil
}

func newDial(peer netip.AddrPort, o *DialOptions) *core.Dial {
	return &core.Dial{GUID: o.GUID, Protocol: o.Protocol, Server: peer, Sizes: o.sizes()}
}
