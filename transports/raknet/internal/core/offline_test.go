package core

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

// desk is an Offline with a counter as its source of secrets.
func desk(cookies bool) *Offline {
	n := uint64(0)
	return &Offline{
		GUID: 5, MaxMTU: MaxMTU, Cookies: cookies, PongData: []byte(strings.Repeat("p", 477)),
		Keys:  func() [2]uint64 { n++; return [2]uint64{n, ^n} },
		Pongs: &Limiter{PerAddr: 4, Total: 256},
	}
}

// ask gives h one datagram and returns the bytes of its answers.
func ask(h *Offline, now int64, src netip.AddrPort, b []byte) (out [][]byte, op Opening, ok bool) {
	var o Outbox
	op, ok = h.Receive(now, src, b, &o)
	for _, d := range o.Datagrams {
		out = append(out, d.Head)
	}
	return out, op, ok
}

func TestReply1(t *testing.T) {
	for _, c := range []struct{ size, mtu int }{
		{18, 0}, {31, 0}, {371, 0}, {372, 400}, {1372, 1400}, {1464, 1492}, {2048, 1492}, // 18: no padding; 371: MTU 399
	} {
		for _, cookies := range []bool{true, false} {
			out, _, _ := ask(desk(cookies), 1, testPeer, codec.Request1{Protocol: 11, Size: c.size}.Append(nil))
			if c.mtu == 0 {
				if len(out) != 0 {
					t.Errorf("request 1 of %d B was answered", c.size)
				}
				continue
			}
			var r codec.Reply1
			if len(out) != 1 || len(out[0]) > c.size || r.Decode(out[0]) != nil || int(r.MTU) != c.mtu || r.HasCookie != cookies {
				t.Errorf("request 1 of %d B: %+v in %d B", c.size, r, len(out))
			}
		}
	}
}

func TestIncompatibleProtocol(t *testing.T) {
	for _, v := range []byte{0, 9, 12, 255} {
		out, _, _ := ask(desk(true), 1, testPeer, codec.Request1{Protocol: v, Size: 1000}.Append(nil))
		if len(out) != 1 || out[0][0] != codec.IDIncompatible {
			t.Errorf("protocol %d: %x", v, out)
		}
	}
}

func TestCookies(t *testing.T) {
	h := desk(true)
	now := int64(1)
	out, _, _ := ask(h, now, testPeer, codec.Request1{Protocol: 11, Size: 1000}.Append(nil))
	var r codec.Reply1
	if err := r.Decode(out[0]); err != nil {
		t.Fatal(err)
	}
	good := codec.Request2{HasCookie: true, Cookie: r.Cookie, Server: testPeer, MTU: r.MTU, GUID: 7}
	wrong, without := good, good
	wrong.Cookie++
	without.HasCookie = false
	other := netip.AddrPortFrom(testPeer.Addr(), testPeer.Port()+1)
	for name, c := range map[string]struct {
		now  int64
		src  netip.AddrPort
		req  codec.Request2
		want bool
	}{
		"right":         {now, testPeer, good, true},
		"one key later": {now + int64(cookiePeriod) + 1, testPeer, good, true},
		"wrong":         {now, testPeer, wrong, false},
		"no cookie":     {now, testPeer, without, false},
		"other port":    {now, other, good, false},
		"stale":         {now + 3*int64(cookiePeriod), testPeer, good, false},
	} {
		fresh := *h
		out, op, ok := ask(&fresh, c.now, c.src, c.req.Append(nil))
		if ok != c.want || len(out) != 0 || ok && op.MTU != int(r.MTU) {
			t.Errorf("%s: %v %+v %x", name, ok, op, out)
		}
	}
}

func TestCookieUsesEveryByte(t *testing.T) {
	key := [2]uint64{1, 2}
	base := Cookie(key, testPeer)
	if Cookie(key, netip.AddrPortFrom(testPeer.Addr(), testPeer.Port()^0x100)) == base {
		t.Error("cookie ignores the port")
	}
	for bit := range 128 {
		k := key
		k[bit/64] ^= 1 << (bit % 64)
		if Cookie(k, testPeer) == base {
			t.Errorf("cookie ignores bit %d of its key", bit)
		}
	}
}

func TestRequest2WithoutCookies(t *testing.T) {
	h := desk(false)
	req := codec.Request2{Server: testPeer, MTU: 1400, GUID: 7}
	if _, op, ok := ask(h, 1, testPeer, req.Append(nil)); !ok || op.MTU != 1400 {
		t.Errorf("plain layout: %v %+v", ok, op)
	}
	req.HasCookie = true
	if _, _, ok := ask(h, 1, testPeer, req.Append(nil)); ok {
		t.Error("layout with a cookie was taken")
	}
	for _, mtu := range []uint16{0, 61, 399} {
		if _, _, ok := ask(h, 1, testPeer, codec.Request2{Server: testPeer, MTU: mtu, GUID: 7}.Append(nil)); ok {
			t.Errorf("MTU %d was granted", mtu)
		}
	}
}

func TestPongLimits(t *testing.T) {
	h := desk(true)
	ping := codec.Ping{Time: 1}.Append(nil)
	count := func(now int64, addrs int) (n int) {
		for i := range 2000 {
			src := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i % addrs >> 8), byte(i % addrs), 1}), uint16(i))
			out, _, _ := ask(h, now, src, ping)
			for _, b := range out {
				if n++; len(b) > 512 {
					t.Fatalf("pong of %d B", len(b))
				}
			}
		}
		return n
	}
	if n := count(1, 1); n != 4 {
		t.Errorf("%d pongs to one address in a second, want 4", n)
	}
	if n := count(int64(time.Second)+1, 500); n != 256 {
		t.Errorf("%d pongs in a second, want 256", n)
	}
	if n := count(int64(2*time.Second)+1, 1); n != 4 {
		t.Errorf("%d pongs in the next second, want 4", n)
	}
}

// TestDialAgainstDesk plays both halves of the offline handshake against each other.
func TestDialAgainstDesk(t *testing.T) {
	for _, cookies := range []bool{true, false} {
		h := desk(cookies)
		h.MaxMTU = 1200
		d := &Dial{GUID: 7, Protocol: 10, Server: testPeer, Sizes: []int{1492, 576}}
		mtu := 0
		for now := int64(1); mtu == 0 && now < int64(5*time.Second); now += int64(100 * time.Millisecond) {
			var out, back Outbox
			d.Output(now, &out)
			for _, q := range out.Datagrams {
				if op, ok := h.Receive(now, testPeer, q.Head, &back); ok {
					h.Accept(testPeer, op, &back)
				}
			}
			for _, q := range back.Datagrams {
				m, err := d.Receive(now, q.Head)
				if err != nil {
					t.Fatal(err)
				}
				mtu = max(mtu, m)
			}
		}
		if mtu != 1200 {
			t.Errorf("cookies %v: MTU %d, want the server's 1200", cookies, mtu)
		}
	}
}

func TestDialSteps(t *testing.T) {
	d := &Dial{Protocol: 11, Server: testPeer, Sizes: []int{1492, 1200, 576}}
	var sizes []int
	for now := int64(1); now < int64(20*time.Second); now += int64(10 * time.Millisecond) {
		var out Outbox
		d.Output(now, &out)
		for _, q := range out.Datagrams {
			sizes = append(sizes, q.Len()+codec.UDPOverhead)
			if q.Len() > 1200 {
				d.TooLarge(now) // as on a link of 1,280 B: EMSGSIZE steps down at once
			}
		}
	}
	if sizes[0] != 1492 || sizes[1] != 1200 || sizes[len(sizes)-1] != 576 {
		t.Fatalf("sizes %v", sizes)
	}
}

func TestDialRefused(t *testing.T) {
	for _, b := range [][]byte{
		codec.Incompatible{Protocol: 9}.Append(nil), codec.Refusal{ID: codec.IDNoFreeSlots}.Append(nil),
		codec.Refusal{ID: codec.IDBanned}.Append(nil), codec.Refusal{ID: codec.IDAlreadyConnected}.Append(nil),
	} {
		d := &Dial{Protocol: 11, Server: testPeer, Sizes: []int{1400}}
		if _, err := d.Receive(1, b); err == nil {
			t.Errorf("%x was ignored", b)
		}
		if _, err := d.Receive(1, b[:5]); err != nil {
			t.Errorf("a piece of a refusal was obeyed: %v", err)
		}
	}
	d := &Dial{Protocol: 11, Server: testPeer, Sizes: []int{1400}}
	if _, err := d.Receive(1, codec.Reply1{MTU: 1492}.Append(nil)); err == nil {
		t.Error("an MTU above the one asked for was accepted")
	}
}
