package core

import (
	"testing"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

// FuzzSession feeds a connected session with datagrams that a fuzzer has mutated. It must not panic, and what it holds and sends
// must stay within its limits.
func FuzzSession(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		l := newLab(t, 576)
		for i := 0; len(script) > 2 && i < 200; i++ {
			n := min(int(script[0])|int(script[1]&1)<<8, len(script)-2)
			l.now += int64(script[1]>>1) * int64(time.Millisecond)
			l.step(script[2 : 2+n])
			script = script[2+n:]
		}
		l.pass(int64(2 * time.Minute))
		if l.s.Err() == nil {
			t.Fatal("a peer that went silent is still connected")
		}
		l.s.end(ErrClosed)
		if l.s.heldBytes != 0 || l.s.buffered != 0 {
			t.Fatalf("%d bytes held, %d buffered after the end", l.s.heldBytes, l.s.buffered)
		}
	})
}

// step is one event: a datagram, or messages to send and read.
func (l *lab) step(b []byte) {
	if len(b) == 0 {
		l.messages()
		return
	}
	if b[0] == 0x7f {
		l.s.StartPacking([][]byte{b, b})
		for range b {
			_ = l.send(50 * len(b)) // a full buffer is part of the game
		}
	} else {
		l.s.Receive(l.now, b)
	}
	if l.now >= l.s.Deadline() {
		l.s.Tick(l.now)
	}
	for _, d := range l.take() {
		if len(d) > 576-codec.UDPOverhead {
			l.t.Fatalf("datagram of %d B", len(d))
		}
	}
	if n := l.s.flight.n + l.s.retries.n; n > FlightFrames || l.s.buffered > HardBuffer || l.s.heldBytes > 2*heldLimit {
		l.t.Fatalf("%d in flight, %d B buffered, %d B held", n, l.s.buffered, l.s.heldBytes)
	}
}

func fuzzSeeds() (out [][]byte) {
	add := func(parts ...[]byte) {
		var script []byte
		for _, p := range parts {
			script = append(append(script, byte(len(p)), byte(len(p)>>8)|2), p...)
		}
		out = append(out, script)
	}
	frame := func(number uint32, f codec.Frame) []byte {
		return f.Append(codec.AppendDatagram(nil, codec.HeaderFrames, number))
	}
	ack, _ := codec.AppendAck(nil, codec.HeaderAck, []codec.Range{{First: 1, Last: 9}}, 100)
	nack, _ := codec.AppendAck(nil, codec.HeaderNack, []codec.Range{{First: 1, Last: 4}, {First: 6, Last: 6}}, 100)
	send := []byte{0x7f, 1, 2, 3}
	add(send, ack, send, nack, ack)
	add(send, nack, []byte{}, send, []byte{codec.IDDisconnect})
	add(frame(2, codec.Frame{Mode: codec.ReliableOrdered, Index: 2, Order: 1, Body: []byte("\xfehello")}), []byte{})
	add(frame(9, codec.Frame{Mode: codec.ReliableOrdered, Index: 5, Order: 4, Body: []byte("\xfeahead")}))
	add(frame(3, fragment(2, 1, 2, 1, "b")), frame(2, fragment(3, 1, 2, 0, "\xfea")))
	add(frame(2, codec.Frame{Body: codec.ConnPing{Time: 1}.Append(nil)}), frame(3, codec.Frame{Body: []byte{codec.IDDetectLost}}))
	add(frame(2, codec.Frame{Mode: codec.ReliableSequenced, Index: 2, Sequence: 4, Body: []byte("\xfes")}))
	add(frame(2, codec.Frame{Mode: codec.Reliable, Index: 2, Body: []byte{codec.IDDisconnect}}), send)
	return out
}

// FuzzOffline feeds the listener's answers to strangers and a client's handshake.
func FuzzOffline(f *testing.F) {
	f.Add(codec.Ping{Time: 1}.Append(nil))
	f.Add(codec.Request1{Protocol: 11, Size: 500}.Append(nil))
	f.Add(codec.Request2{HasCookie: true, Server: testPeer, MTU: 1400, GUID: 7}.Append(nil))
	f.Add(codec.Reply1{GUID: 1, MTU: 1400}.Append(nil))
	f.Add(codec.Reply2{GUID: 1, MTU: 1400, Client: testPeer}.Append(nil))
	f.Add(codec.Refusal{ID: codec.IDNoFreeSlots, GUID: 1}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, _, ok := ask(desk(true), 1, testPeer, b)
		if ok {
			t.Fatal("a cookie was guessed")
		}
		for _, a := range out {
			if len(a) > len(b) && b[0] > codec.IDUnconnectedPingOpen {
				t.Fatalf("%d B answered %d B", len(a), len(b))
			}
		}
		d := &Dial{Protocol: 11, Server: testPeer, Sizes: []int{1400}}
		if mtu, _ := d.Receive(1, b); mtu != 0 {
			t.Fatal("a reply 2 without reply 1 was obeyed")
		}
		d.second, d.reply.GUID = true, 1
		if mtu, err := d.Receive(1, b); err == nil && mtu != 0 && (mtu < MinMTU || mtu > 1400) {
			t.Fatalf("MTU %d", mtu)
		}
	})
}
