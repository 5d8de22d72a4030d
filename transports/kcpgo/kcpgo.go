// Package kcpgo is the echo.Transport over kcp-go, an extra column beside the C core of KCP.
//
// Parameters follow the C column: nodelay 1, interval 10 ms, fast resend 2, no congestion window, MTU 1,400, send and receive
// window 64/64 for single and sparse and 64/128 for concurrent and loaded, neither FEC nor encryption, a flush after every
// write and an acknowledgement at once. Conversation number is 42 + index, one client socket per connection.
//
// Messages are framed: kcp-go cuts every Write at the segment size (1,376 B) into messages of its own even in message mode, so
// the boundary has to travel in the data. A record is the length in 4 bytes, little endian, and the message, handed over in
// one Write, and Recv puts the segments together again. Stream mode would do as well, but it also merges small records into
// one segment when the window is full, which the C column, in message mode, never does; so message mode it is.
//
// KCP has no handshake, no close and no keep-alive. Dial only opens a socket; Accept returns once a client's first segment is
// there. Close is local. A connection without progress for IdleTimeout (120 s, as for QUIC) ends by itself: Recv on the
// server reports io.EOF, the only end KCP knows, every other call an error that wraps os.ErrDeadlineExceeded. kcp-go ignores
// the core's dead-link state and would wait for ever.
//
// Memory: kcp-go receives with recvmmsg into 256 buffers of 1,472 B, about 370 KiB for every client session and every
// listener. This is its nature and shows in the client's RSS. Sessions of a server share their listener's.
//
// Client sockets are bound to the wildcard address and to port 20,000 + index (plus one from the server's own port on).
package kcpgo

import (
	"runtime/debug"
	"time"

	kcp "github.com/xtaci/kcp-go/v5"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// modulePath names kcp-go in the build information.
const modulePath = "github.com/xtaci/kcp-go/v5"

const (
	maxPayload     = 65_536 // bytes, as in the published drivers
	maxConnections = 8192
	defaultMTU     = 1400 // bytes of UDP payload, KCP header included
	minMTU         = 50   // what the core accepts
	maxMTU         = 1472 // kcp-go's receive buffers
	firstConv      = 42
	minRTO         = 30 * time.Millisecond // of nodelay 1
	wantedBuffer   = 2 << 20               // bytes, both directions, as the C column asks for
	idleTimeout    = 120 * time.Second
)

// Transport implements echo.Transport.
type Transport struct {
	firstPort int           // of the client sockets; 0: firstSourcePort; tests choose their own
	idle      time.Duration // 0: idleTimeout; tests shorten it
}

var _ echo.Transport = Transport{}

// Describe answers `driver describe`.
func (Transport) Describe() wire.Describe {
	version, sum := module()
	return wire.Describe{
		Transport:        "kcp-go",
		TransportVersion: version,
		APIs:             []string{wire.APISend},
		Features:         []string{},
		Reliable:         true,
		Encryption:       "none",
		Limits:           wire.Limits{MaxPayload: maxPayload, MaxConnections: maxConnections},
		Facts: []string{
			"language: Go",
			"module sum: " + sum,
			"congestion control: none (nc 1)",
			"nodelay 1, interval 10 ms, fast resend 2, minimum RTO 30 ms",
			"about 370 KiB of receive buffers per client session and per listener",
		},
	}
}

// module returns the version of kcp-go in this binary and its checksum, which pins the source.
func module() (version, sum string) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == modulePath {
				return dep.Version, dep.Sum
			}
		}
	}
	return "unknown", "unknown"
}

// windows are the send and receive window of a suite in segments.
func windows(suite string) [2]int {
	if suite == wire.SuiteConcurrent || suite == wire.SuiteLoaded {
		return [2]int{64, 128}
	}
	return [2]int{64, 64}
}

// tune applies the parameters of the column to one session.
func tune(s *kcp.UDPSession, cfg wire.Config) error {
	mtu, err := mtuOf(cfg)
	if err != nil {
		return err
	}
	w := windows(cfg.Suite)
	s.SetMtu(mtu)
	s.SetNoDelay(1, 10, 2, 1)
	s.SetWindowSize(w[0], w[1])
	s.SetWriteDelay(false)
	s.SetACKNoDelay(true)
	return nil
}

// mtuOf is the size of a datagram in bytes.
func mtuOf(cfg wire.Config) (int, error) {
	switch {
	case cfg.MTU == 0:
		return defaultMTU, nil
	case cfg.MTU < minMTU || cfg.MTU > maxMTU:
		return 0, &wire.UsageError{Flag: "mtu", Reason: "kcp-go sends datagrams of 50 to 1472 B"}
	default:
		return cfg.MTU, nil
	}
}
