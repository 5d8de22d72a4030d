package core

import (
	"net/netip"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

// Start sends a client's first message inside the connection.
func (s *Session) Start(now int64) {
	s.control(codec.Reliable, codec.ConnRequest{GUID: s.cfg.GUID, Time: millis(now)}.Append(nil))
}

func millis(ns int64) int64 { return ns / int64(time.Millisecond) }

func (s *Session) onControl(now int64, b []byte) {
	switch b[0] {
	case codec.IDConnectedPing:
		var p codec.ConnPing
		if p.Decode(b) == nil {
			s.control(codec.Unreliable, codec.ConnPong{Ping: p.Time, Pong: millis(now)}.Append(nil))
		}
	case codec.IDConnectedPong:
		var p codec.ConnPong
		if p.Decode(b) == nil && p.Ping <= millis(now) && p.Ping >= millis(s.startNS) {
			s.Stats.PingRTT = time.Duration(millis(now)-p.Ping) * time.Millisecond
		}
	case codec.IDDetectLost:
		s.sendPing(now)
	case codec.IDConnRequest:
		s.onRequest(now, b)
	case codec.IDConnAccepted:
		s.onAccepted(now, b)
	case codec.IDNewIncoming:
		if !s.cfg.Client && s.phase == waiting {
			s.phase = connected
		}
	case codec.IDDisconnect:
		s.onDisconnect()
	}
}

// onRequest answers every connection request until the client goes on, since some clients send it unreliably.
func (s *Session) onRequest(now int64, b []byte) {
	var r codec.ConnRequest
	if s.cfg.Client || s.phase != waiting || r.Decode(b) != nil || s.fresh.n+s.flight.n+s.retries.n > 2 {
		return
	}
	a := codec.ConnAccepted{Client: s.peer, Systems: codec.Fillers(), RequestTime: r.Time, AcceptTime: millis(now)}
	s.control(codec.ReliableOrdered, a.Append(nil))
}

func (s *Session) onAccepted(now int64, b []byte) {
	var a codec.ConnAccepted
	if !s.cfg.Client || s.phase != waiting || a.Decode(b) != nil {
		return
	}
	n := codec.NewIncoming{Server: s.peer, Systems: codec.Fillers(), RequestTime: a.RequestTime, AcceptTime: a.AcceptTime}
	s.control(codec.ReliableOrdered, n.Append(nil))
	s.phase = connected
	s.sendPing(now)
}

func (s *Session) onDisconnect() {
	if s.phase == closing {
		s.end(ErrClosed)
		return
	}
	s.end(ErrPeerGone)
}

// Peer is the address of the other side.
func (s *Session) Peer() netip.AddrPort { return s.peer }
