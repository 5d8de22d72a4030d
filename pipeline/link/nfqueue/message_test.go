package nfqueue

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// sample builds the body of a packet message: generic header, packet header attribute, payload attribute.
func sample(queue uint16, id uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{2, 0}, queue)
	b = binary.NativeEndian.AppendUint16(b, 11)
	b = binary.NativeEndian.AppendUint16(b, attrPacketHdr)
	b = append(binary.BigEndian.AppendUint32(b, id), 8, 0, 0, 0) // protocol, hook, padding
	b = binary.NativeEndian.AppendUint16(b, uint16(attrHead+len(payload)))
	b = binary.NativeEndian.AppendUint16(b, attrPayload)
	return append(b, payload...)
}

// udp is an IPv4 header with ports 20000 to 4567.
var udp, _ = hex.DecodeString("45000020000040004011000000000000000000004e2011d7000c0000")

func TestParsePacket(t *testing.T) {
	p, err := parsePacket(sample(7, 0x01020304, udp))
	if err != nil || p.queue != 7 || p.id != 0x01020304 || string(p.payload) != string(udp) {
		t.Errorf("packet %+v, error %v", p, err)
	}
	whole := sample(7, 1, udp)
	for _, bad := range [][]byte{nil, whole[:3], whole[:4], whole[:10], whole[:len(whole)-1]} {
		if p, err := parsePacket(bad); err == nil {
			t.Errorf("%d of %d bytes were taken as %+v", len(bad), len(whole), p)
		}
	}
}

func TestPorts(t *testing.T) {
	change := func(at int, to byte) []byte {
		b := append([]byte(nil), udp...)
		b[at] = to
		return b
	}
	six := append([]byte{0x60, 0, 0, 0, 0, 8, 17, 64}, make([]byte, 32)...)
	six = append(six, 0x4e, 0x20, 0x11, 0xd7)
	cases := []struct {
		name string
		ip   []byte
		ok   bool
	}{
		{"udp", udp, true},
		{"tcp", change(9, 6), true},
		{"ipv6", six, true},
		{"icmp", change(9, 1), false},
		{"later fragment", change(7, 1), false},
		{"first fragment", change(6, 0x20), true},
		{"header length too short", change(0, 0x44), false},
		{"header longer than packet", change(0, 0x4f), false},
		{"cut before the ports", udp[:22], false},
		{"ipv6 cut", six[:42], false},
		{"empty", nil, false},
	}
	for _, c := range cases {
		src, dst, ok := Ports(c.ip)
		if ok != c.ok || ok && (src != 20000 || dst != 4567) {
			t.Errorf("%s: ports %d %d %v, want %v", c.name, src, dst, ok, c.ok)
		}
	}
}

func TestAppendVerdict(t *testing.T) {
	b := appendVerdict([]byte{0xaa}, msgVerdictBatch, 2, verdictAccept, 9)[1:]
	if len(b) != 32 || binary.NativeEndian.Uint32(b) != 32 || binary.NativeEndian.Uint16(b[4:]) != msgVerdictBatch {
		t.Fatalf("header of % x", b)
	}
	if queue := binary.BigEndian.Uint16(b[18:]); queue != 2 {
		t.Errorf("queue %d, want 2", queue)
	}
	if verdict, id := binary.BigEndian.Uint32(b[24:]), binary.BigEndian.Uint32(b[28:]); verdict != verdictAccept || id != 9 {
		t.Errorf("verdict %d of %d, want accept of 9", verdict, id)
	}
}

func FuzzParsePacket(f *testing.F) {
	f.Add(sample(0, 1, udp))
	f.Add(sample(65535, 0xffffffff, nil))
	f.Add([]byte{2, 0, 0, 0, 3, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePacket(b)
		if err == nil && len(p.payload) > len(b) {
			t.Errorf("payload of %d bytes from %d", len(p.payload), len(b))
		}
		Ports(p.payload)
	})
}

func TestRing(t *testing.T) {
	var r ring
	next, want := uint32(0), uint32(0)
	for round := range 50 { // fills faster than it drains, so the buffer grows while its start is anywhere
		for range 40 + round {
			r.push(entry{id: next})
			next++
		}
		for range 30 {
			if e, ok := r.front(); !ok || e.id != want {
				t.Fatalf("front %d %v, want %d", e.id, ok, want)
			}
			r.pop()
			want++
		}
	}
	for ; want < next; want++ {
		if e, ok := r.front(); !ok || e.id != want {
			t.Fatalf("front %d %v, want %d", e.id, ok, want)
		}
		r.pop()
	}
	if _, ok := r.front(); ok {
		t.Error("drained ring has a front")
	}
}
