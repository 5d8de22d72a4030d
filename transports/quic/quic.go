// Package quic is the echo.Transport over quic-go: one bidirectional stream per connection, TLS 1.3, a length before each message.
//
// A record on the stream is the length of the message in 4 bytes, little endian, and the message. With -api send every
// record is one Write, and is read as the 4 bytes and then the body, without a buffer in between, as in the published
// benchmark. With -api batch up to 16 ready records are one Write, and reads go through a buffer.
//
// What differs from quic-go's own defaults, as published: the packet size is 1,400 B for single and sparse and 1,372 B for
// concurrent and loaded (-mtu sets another), path MTU discovery is off, a connection idles out after 120 s, a handshake
// after 10 s, and a peer may open one stream. quic-go asks for 7 MiB of socket buffer; -rcvbuf and -sndbuf replace that.
// Where the process may, quic-go passes the limit of net.core.rmem_max with SO_RCVBUFFORCE; this package takes that back,
// because no other column has it.
//
// The server sees a stream only once the client has written to it, so a Conn from Accept waits for its stream in the first
// Recv or Send. Close sends CONNECTION_CLOSE with application error 0, which the peer reads as io.EOF; data that was not
// acknowledged by then is lost. A dead peer ends a connection through the idle timeout.
//
// Client sockets are bound to the wildcard address and to port 20,000 + index (plus one from the server's own port on).
package quic

import (
	"runtime/debug"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// modulePath names quic-go in the build information.
const modulePath = "github.com/quic-go/quic-go"

// maxPayload is the largest message in bytes, as in the published drivers.
const maxPayload = 65_536

// maxConnections is bounded by the fixed source ports and by what one server process is meant to hold.
const maxConnections = 8192

// Transport implements echo.Transport.
type Transport struct {
	firstPort int // of the client sockets; 0: firstSourcePort; tests choose their own
}

var _ echo.Transport = Transport{}

// Describe answers `driver describe`.
func (Transport) Describe() wire.Describe {
	version, sum := module()
	return wire.Describe{
		Transport:        "quic-go",
		TransportVersion: version,
		APIs:             []string{wire.APISend, wire.APIBatch},
		Features:         []string{},
		Reliable:         true,
		Encryption:       "TLS 1.3",
		Limits:           wire.Limits{MaxPayload: maxPayload, MaxConnections: maxConnections},
		Facts: []string{
			"language: Go",
			"module sum: " + sum,
			"congestion control: NewReno style, initial window 32 packets, paced (quic-go default)",
			"pacer: counts packets of 1,280 B whatever the packet size, and polls for the rest (v0.63.0)",
			"acknowledgements: every 2 packets, max ack delay 25 ms",
			"probe timeout: from measured RTT, timer granularity 1 ms (RFC 9002)",
		},
	}
}

// module returns the version of quic-go in this binary and its checksum, which pins the source.
func module() (version, sum string) {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, dep := range info.Deps {
			if dep.Path == modulePath {
				return dep.Version, dep.Sum
			}
		}
	}
	return "unknown", "unknown"
}
