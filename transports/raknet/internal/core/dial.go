package core

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

// Smallest and largest nominal MTU that this implementation negotiates.
const (
	MinMTU = 400
	MaxMTU = 1492
)

// Protocols that a listener accepts.
const (
	ProtocolOld = 10
	ProtocolNew = 11
)

// RefusedError is a server's answer that it will not have the connection.
type RefusedError struct {
	Reason   string
	Protocol byte // the server's, if that is the reason
}

func (e *RefusedError) Error() string {
	if e.Protocol != 0 {
		return fmt.Sprintf("server refused the connection: it speaks RakNet protocol %d", e.Protocol)
	}
	return "server refused the connection: " + e.Reason
}

// ErrMTUReply is a server's MTU outside of what was asked for.
var ErrMTUReply = errors.New("server answered with an MTU out of range")

const (
	triesPerSize = 4
	retryAfter   = 500 * time.Millisecond
	firstRetry   = 200 * time.Millisecond
)

// Dial is the offline half of a client's handshake.
type Dial struct {
	GUID     int64
	Protocol byte
	Server   netip.AddrPort
	Sizes    []int // nominal MTUs to try, falling; the last is tried for ever

	size   int // index into Sizes
	tries  int
	nextNS int64
	reply  codec.Reply1
	second bool // reply 1 has come
}

// Answered says whether reply 1 has come, so that request 2 is due.
func (d *Dial) Answered() bool { return d.second }

// ServerGUID is the server's identity; zero before Answered.
func (d *Dial) ServerGUID() int64 { return d.reply.GUID }

// Deadline is when Output has something to send.
func (d *Dial) Deadline() int64 { return d.nextNS }

// TooLarge notes that the kernel would not send a datagram of the present size, so that the next smaller one is due.
func (d *Dial) TooLarge(now int64) {
	if !d.second {
		d.tries, d.nextNS = triesPerSize, now
	}
}

// Output appends the request that is due.
func (d *Dial) Output(now int64, o *Outbox) {
	if now < d.nextNS {
		return
	}
	d.nextNS = now + int64(retryAfter)
	if d.tries == 0 {
		d.nextNS = now + int64(firstRetry)
	}
	if d.second {
		d.tries++
		r := codec.Request2{HasCookie: d.reply.HasCookie, Cookie: d.reply.Cookie, Server: d.Server, MTU: d.reply.MTU, GUID: d.GUID}
		o.Add(r.Append)
		return
	}
	if d.tries >= triesPerSize && d.size < len(d.Sizes)-1 {
		d.size++
		d.tries = 0
	}
	d.tries++
	o.Add(codec.Request1{Protocol: d.Protocol, Size: d.Sizes[d.size] - codec.UDPOverhead}.Append)
}

// Receive takes one datagram of the server; mtu is not 0 once the connection may start. Everything that is no answer is ignored.
func (d *Dial) Receive(now int64, b []byte) (mtu int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	switch b[0] {
	case codec.IDReply1:
		return 0, d.onReply1(now, b)
	case codec.IDReply2:
		return d.onReply2(b)
	case codec.IDIncompatible:
		var r codec.Incompatible
		if r.Decode(b) == nil && r.Protocol != d.Protocol {
			return 0, &RefusedError{Protocol: r.Protocol}
		}
	}
	return 0, refusal(b)
}

func refusal(b []byte) error {
	reason := map[byte]string{
		codec.IDAlreadyConnected:  "it still has a connection from this address",
		codec.IDNoFreeSlots:       "it is full",
		codec.IDBanned:            "this address is banned",
		codec.IDRecentlyConnected: "this address connected too recently",
	}[b[0]]
	var r codec.Refusal
	if reason == "" || r.Decode(b) != nil {
		return nil
	}
	return &RefusedError{Reason: reason}
}

func (d *Dial) onReply1(now int64, b []byte) error {
	var r codec.Reply1
	if d.second || r.Decode(b) != nil {
		return nil
	}
	if !d.acceptable(r.MTU) {
		return fmt.Errorf("%w: %d, asked for %d", ErrMTUReply, r.MTU, d.Sizes[d.size])
	}
	d.reply, d.second, d.tries, d.nextNS = r, true, 0, now
	return nil
}

func (d *Dial) onReply2(b []byte) (int, error) {
	var r codec.Reply2
	if !d.second || r.Decode(b) != nil || r.GUID != d.reply.GUID {
		return 0, nil
	}
	if !d.acceptable(r.MTU) {
		return 0, fmt.Errorf("%w: %d, asked for %d", ErrMTUReply, r.MTU, d.Sizes[d.size])
	}
	return int(r.MTU), nil
}

// acceptable allows the largest size that was tried: an answer may belong to an earlier request.
func (d *Dial) acceptable(mtu uint16) bool { return mtu >= MinMTU && int(mtu) <= d.Sizes[0] }
