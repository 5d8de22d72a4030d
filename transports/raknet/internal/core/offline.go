package core

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/dchest/siphash"

	"transportbench/transports/raknet/internal/codec"
)

// cookiePeriod is how long one cookie key is in use; the key before it stays valid as long again.
const cookiePeriod = 15 * time.Second

// Offline answers datagrams that belong to no connection. It keeps no state per address but the pong limiter's.
type Offline struct {
	GUID     int64
	MaxMTU   int
	Cookies  bool
	PongData []byte
	Keys     func() [2]uint64 // a fresh secret
	Pongs    *Limiter

	current, previous [2]uint64
	rotateNS          int64
}

// Opening is a request that may become a connection.
type Opening struct {
	MTU  int
	GUID int64
}

// Receive handles one datagram from src. Answers go to o; ok says that a valid request 2 came, which the caller decides on.
func (h *Offline) Receive(now int64, src netip.AddrPort, b []byte, o *Outbox) (_ Opening, ok bool) {
	if len(b) == 0 {
		return Opening{}, false
	}
	switch b[0] {
	case codec.IDUnconnectedPing, codec.IDUnconnectedPingOpen:
		h.onPing(now, src, b, o)
	case codec.IDRequest1:
		h.onRequest1(now, src, b, o)
	case codec.IDRequest2:
		return h.onRequest2(now, src, b)
	}
	return Opening{}, false
}

func (h *Offline) onPing(now int64, src netip.AddrPort, b []byte, o *Outbox) {
	var p codec.Ping
	if p.Decode(b) != nil || !h.Pongs.Allow(now, src.Addr()) {
		return
	}
	o.Add(codec.Pong{Time: p.Time, GUID: h.GUID, Data: h.PongData}.Append)
}

// onRequest1 never answers with more bytes than it got: a forged source address gains nothing.
func (h *Offline) onRequest1(now int64, src netip.AddrPort, b []byte, o *Outbox) {
	var r codec.Request1
	if r.Decode(b) != nil {
		return
	}
	if r.Protocol != ProtocolOld && r.Protocol != ProtocolNew {
		if len(b) >= 26 {
			o.Add(codec.Incompatible{Protocol: ProtocolNew, GUID: h.GUID}.Append)
		}
		return
	}
	mtu := min(len(b)+codec.UDPOverhead, h.MaxMTU)
	reply := codec.Reply1{GUID: h.GUID, HasCookie: h.Cookies, MTU: uint16(mtu)}
	if h.Cookies {
		h.rotate(now)
		reply.Cookie = Cookie(h.current, src)
	}
	if mtu < MinMTU || len(b) < 32 {
		return
	}
	o.Add(reply.Append)
}

func (h *Offline) onRequest2(now int64, src netip.AddrPort, b []byte) (Opening, bool) {
	var r codec.Request2
	if r.Decode(b, h.Cookies) != nil {
		return Opening{}, false
	}
	if h.Cookies {
		h.rotate(now)
		if r.Cookie != Cookie(h.current, src) && r.Cookie != Cookie(h.previous, src) {
			return Opening{}, false
		}
	}
	if int(r.MTU) < MinMTU {
		return Opening{}, false
	}
	return Opening{MTU: min(int(r.MTU), h.MaxMTU), GUID: r.GUID}, true
}

// Accept appends the answer to a request 2 that was granted.
func (h *Offline) Accept(src netip.AddrPort, op Opening, o *Outbox) {
	o.Add(codec.Reply2{GUID: h.GUID, Client: src, MTU: uint16(op.MTU)}.Append)
}

// Refuse appends the answer that src has a connection already.
func (h *Offline) Refuse(o *Outbox) {
	o.Add(codec.Refusal{ID: codec.IDAlreadyConnected, GUID: h.GUID}.Append)
}

func (h *Offline) rotate(now int64) {
	if h.rotateNS != 0 && now < h.rotateNS {
		return
	}
	stale := h.rotateNS == 0 || now >= h.rotateNS+int64(cookiePeriod)
	h.previous, h.current = h.current, h.Keys()
	if stale {
		h.previous = h.Keys()
	}
	h.rotateNS = now + int64(cookiePeriod)
}

// Cookie is SipHash-2-4 of the address and port under key, cut to 32 bits.
func Cookie(key [2]uint64, src netip.AddrPort) uint32 {
	raw := src.Addr().As16()
	var b [18]byte
	copy(b[:], raw[:])
	binary.BigEndian.PutUint16(b[16:], src.Port())
	return uint32(siphash.Hash(key[0], key[1], b[:]))
}

const limiterSlots = 1024

// Limiter allows a number of events a second in all and per address. Addresses share 1,024 counters, so a collision can only make
// it stricter, and its memory is constant.
type Limiter struct {
	PerAddr, Total int
	Seed           [2]uint64

	startNS int64
	total   int
	count   [limiterSlots]uint16
}

// Allow counts one event of ip.
func (l *Limiter) Allow(now int64, ip netip.Addr) bool {
	if l.startNS == 0 || now-l.startNS >= int64(time.Second) {
		l.startNS, l.total = now, 0
		clear(l.count[:])
	}
	raw := ip.As16()
	slot := &l.count[siphash.Hash(l.Seed[0], l.Seed[1], raw[:])%limiterSlots]
	if l.total >= l.Total || int(*slot) >= l.PerAddr {
		return false
	}
	l.total++
	*slot++
	return true
}
