//go:build linux

// Package echoconn is the echo transport over package raknet, through its exported API only.
package echoconn

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"transportbench/transports/echo"
	"transportbench/transports/raknet"
	"transportbench/transports/wire"
)

const (
	// firstSourcePort and its successors are the client's ports, fixed per connection so that every run meets the same hashing. They
	// lie below Linux's ephemeral ports (32,768).
	firstSourcePort = 20_000
	// listenBuffer is what the listener asks of the kernel unless -rcvbuf says otherwise (published: 2 MiB).
	listenBuffer = 2 << 20
	// backlog is large enough for eight handshakes at a time, whatever the engine's pace.
	backlog        = 128
	maxPayload     = 16 << 20
	maxConnections = 8192
)

// packFull lets the MTU decide how many messages share a datagram: more frames than may be in flight never do.
const packFull = 64

// Transport implements echo.Transport. Its zero value is ready.
type Transport struct {
	once   sync.Once
	client *raknet.Client
	err    error
}

// Describe says what this driver is.
func (*Transport) Describe() wire.Describe {
	return wire.Describe{
		Transport: "raknet", TransportVersion: "1", APIs: []string{wire.APISend, wire.APIBatch},
		Features: []string{wire.FeaturePolicy, wire.FeaturePolicyFull},
		Reliable: true, Encryption: "none", Limits: wire.Limits{MaxPayload: maxPayload, MaxConnections: maxConnections},
		Facts: []string{
			"language Go", "RakNet protocol 10 (single, sparse) or 11 (concurrent, loaded), cookies off",
			"64 reliable frames in flight, no congestion window, no pacing", "minimum retransmission timeout 50 ms",
			"batch calls pack up to 8 messages a datagram, or to the MTU with -policy=full, until the first loss",
		},
	}
}

func tuning(cfg wire.Config) raknet.Tuning {
	t := raknet.Tuning{RcvBuf: cfg.RcvBuf, SndBuf: cfg.SndBuf, GSO: cfg.GSO}
	if cfg.Policy == wire.PolicyFull {
		t.MaxPack = packFull
	}
	return t
}

// Listen opens one listener with a shard for each of cfg.Listeners.
func (*Transport) Listen(_ context.Context, cfg wire.Config) ([]echo.Listener, error) {
	o := raknet.ListenOptions{Tuning: tuning(cfg), Shards: cfg.Listeners, MaxMTU: cfg.MTU, Backlog: backlog, NoCookies: true}
	if o.RcvBuf == 0 {
		o.RcvBuf = listenBuffer
	}
	l, err := raknet.Listen(cfg.Addr.String(), &o)
	if err != nil {
		return nil, err
	}
	return split(l, cfg), nil
}

// Dial opens connection number index from its own port.
func (t *Transport) Dial(ctx context.Context, cfg wire.Config, index int) (echo.Conn, error) {
	t.once.Do(func() {
		tune := tuning(cfg)
		t.client, t.err = raknet.NewClient(&tune)
	})
	if t.err != nil {
		return nil, t.err
	}
	o := raknet.DialOptions{Protocol: raknet.Protocol11, MTU: cfg.MTU, LocalAddr: source(cfg.Addr, index)}
	if cfg.Suite == wire.SuiteSingle || cfg.Suite == wire.SuiteSparse {
		o.Protocol = raknet.Protocol10
	}
	if o.MTU == 0 {
		o.MTU = raknet.DefaultMTU
	}
	c, err := t.client.Dial(ctx, cfg.Addr.String(), &o)
	if err != nil {
		return nil, fmt.Errorf("connection %d: %w", index, err)
	}
	return newConn(c, cfg)
}

// source is the local address of connection index; it steps over the server's port.
func source(server netip.AddrPort, index int) netip.AddrPort {
	port := uint16(firstSourcePort + index)
	if server.Port() >= firstSourcePort && port >= server.Port() {
		port++
	}
	if server.Addr().Is4() {
		return netip.AddrPortFrom(netip.IPv4Unspecified(), port)
	}
	return netip.AddrPortFrom(netip.IPv6Unspecified(), port)
}
