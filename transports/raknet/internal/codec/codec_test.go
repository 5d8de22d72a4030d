package codec

import (
	"encoding/hex"
	"errors"
	"net/netip"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSerialArithmetic(t *testing.T) {
	for _, c := range []struct {
		a, b uint32
		less bool
	}{
		{0, 1, true}, {1, 0, false}, {5, 5, false}, {Mask24, 0, true}, {0, Mask24, false},
		{0, 1<<23 - 1, true}, {0, 1 << 23, false}, {1 << 23, 0, false}, {0xfffff0, 0x10, true},
	} {
		if got := Less24(c.a, c.b); got != c.less {
			t.Errorf("Less24(%#x, %#x) = %v", c.a, c.b, got)
		}
	}
	if d := Diff24(1, Mask24); d != 2 {
		t.Errorf("Diff24 over the wrap is %d, want 2", d)
	}
	if d := Diff24(Mask24, 1); d != -2 {
		t.Errorf("Diff24 under the wrap is %d, want -2", d)
	}
}

func TestAddress(t *testing.T) {
	a := netip.MustParseAddrPort("127.0.0.1:19132")
	if got := hex.EncodeToString(AppendAddr(nil, a)); got != "0480fffffe4abc" {
		t.Errorf("IPv4 address is %s", got)
	}
	for _, s := range []string{"127.0.0.1:19132", "[2001:db8::1]:1", "0.0.0.0:0"} {
		want := netip.MustParseAddrPort(s)
		b := AppendAddr(nil, want)
		got, n, err := Addr(b)
		if err != nil || got != want || n != len(b) || n != AddrSize(want) {
			t.Errorf("%s: %v %d %v", s, got, n, err)
		}
		if _, _, err := Addr(b[:n-1]); !errors.Is(err, ErrShort) {
			t.Errorf("%s cut short: %v", s, err)
		}
	}
	linux := unhex(t, "060a004abc00000000200100000000000000000000000000010000"+"0000")
	if got, _, err := Addr(linux); err != nil || got.Port() != 19132 {
		t.Errorf("IPv6 address with Linux's family: %v %v", got, err)
	}
	if _, _, err := Addr([]byte{5, 0, 0, 0, 0, 0, 0}); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown version: %v", err)
	}
}

// TestBedrockFrame is the first frame of a Bedrock 1.18.12 client.
func TestBedrockFrame(t *testing.T) {
	_, frames, err := Datagram(unhex(t, "84000000400090000000099221072f3912806f0000000014c82f2900"))
	if err != nil {
		t.Fatal(err)
	}
	var f Frame
	rest, err := f.Decode(frames)
	if err != nil || len(rest) != 0 || f.Mode != Reliable || len(f.Body) != 18 {
		t.Fatalf("%+v %v, %d bytes left", f, err, len(rest))
	}
	var r ConnRequest
	if err := r.Decode(f.Body); err != nil || uint64(r.GUID) != 0x9221072f3912806f || r.Secure {
		t.Fatalf("%+v %v", r, err)
	}
}

func TestFrameRejects(t *testing.T) {
	for name, s := range map[string]string{
		"empty body":         "400000000000",
		"body longer":        "400018000000aa",
		"split count 0":      "500008000000" + "00000000" + "0000" + "00000000" + "fe",
		"split index beyond": "500008000000" + "00000002" + "0000" + "00000002" + "fe",
		"cut header":         "4000",
	} {
		var f Frame
		if _, err := f.Decode(unhex(t, s)); err == nil {
			t.Errorf("%s: decoded as %+v", name, f)
		}
	}
	var f Frame
	if _, err := f.Decode(unhex(t, "00000bfe01")); err != nil || len(f.Body) != 2 {
		t.Errorf("11 bits are rounded up to two bytes: %v, %d", err, len(f.Body))
	}
}

func TestHeaderSizes(t *testing.T) {
	for mode, want := range []int{3, 10, 6, 10, 13} {
		if got := HeaderSize(Reliability(mode), false); got != want {
			t.Errorf("mode %d: %d bytes, want %d", mode, got, want)
		}
		if got := HeaderSize(Reliability(mode), true); got != want+10 {
			t.Errorf("mode %d split: %d bytes, want %d", mode, got, want+10)
		}
		f := Frame{Mode: Reliability(mode), Split: true, SplitCount: 1}
		if got := len(f.AppendHeader(nil, 1)); got != want+10 {
			t.Errorf("mode %d: wrote %d bytes, want %d", mode, got, want+10)
		}
	}
}

func TestAckRejects(t *testing.T) {
	for name, s := range map[string]string{
		"reversed range":  "c00001" + "00" + "050000" + "040000",
		"unknown type":    "c00001" + "02" + "050000",
		"missing record":  "c00002" + "01" + "050000",
		"half a range":    "c00001" + "00" + "050000",
		"nothing":         "c0",
		"half the circle": "c00001" + "00" + "000000" + "010080",
	} {
		if _, err := ParseAck(unhex(t, s)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	wrap, err := ParseAck(unhex(t, "c00001"+"00"+"feffff"+"010000"))
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := wrap.Next(); !ok || r.Len() != 4 {
		t.Errorf("range over the wrap: %+v %v", r, ok)
	}
}

func TestAckLimit(t *testing.T) {
	var ranges []Range
	for i := range uint32(500) {
		ranges = append(ranges, Range{i * 4, i*4 + 1})
	}
	b, rest := AppendAck(nil, HeaderAck, ranges, 1372)
	if len(ranges)-len(rest) != 195 || len(b) > 1372 {
		t.Errorf("%d ranges in %d bytes, want 195 in at most 1,372", len(ranges)-len(rest), len(b))
	}
}

func TestRequest2Layouts(t *testing.T) {
	r := Request2{HasCookie: true, Cookie: 7, Server: netip.MustParseAddrPort("127.0.0.1:1"), MTU: 1400, GUID: 9}
	with := r.Append(nil)
	r.HasCookie, r.Cookie = false, 0
	without := r.Append(nil)
	if len(with) != 39 || len(without) != 34 {
		t.Fatalf("sizes %d and %d, want 39 and 34", len(with), len(without))
	}
	var got Request2
	if err := got.Decode(without, true); err == nil && got.Server == r.Server && got.MTU == r.MTU {
		t.Error("layout without a cookie was understood as one with a cookie")
	}
	if err := got.Decode(with, false); err == nil && got.Server == r.Server && got.MTU == r.MTU {
		t.Error("layout with a cookie was understood as one without")
	}
}
