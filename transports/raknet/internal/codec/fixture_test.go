package codec

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestRecordedConversations decodes every datagram of two conversations between implementations that are not ours and encodes it
// again to the same bytes.
func TestRecordedConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("recordings: %v, %v; want two", files, err)
	}
	for _, name := range files {
		for i, b := range recorded(t, name) {
			got, err := reencode(b)
			if err != nil {
				t.Errorf("%s: datagram %d: %v: %x", name, i, err, b)
			} else if !bytes.Equal(got, b) {
				t.Errorf("%s: datagram %d:\n got %x\nwant %x", name, i, got, b)
			}
		}
	}
}

func recorded(tb testing.TB, name string) (out [][]byte) {
	tb.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	var doc struct {
		Datagrams []struct{ Hex string }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		tb.Fatal(err)
	}
	if len(doc.Datagrams) == 0 {
		tb.Fatalf("%s holds no datagrams", name)
	}
	for _, d := range doc.Datagrams {
		b, err := hex.DecodeString(d.Hex)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// reencode decodes any datagram of a conversation without cookies, down to the control messages, and encodes what it understood.
func reencode(b []byte) ([]byte, error) {
	switch {
	case len(b) == 1 && b[0] == IDDisconnect:
		return []byte{IDDisconnect}, nil
	case b[0]&FlagValid == 0:
		return reencodeOffline(b, false)
	case b[0]&(FlagAck|FlagNack) != 0:
		return reencodeAck(b)
	}
	return reencodeFrames(b)
}

func reencodeFrames(b []byte) ([]byte, error) {
	number, rest, err := Datagram(b)
	if err != nil {
		return nil, err
	}
	out := AppendDatagram(nil, b[0], number)
	for len(rest) > 0 {
		var f Frame
		if rest, err = f.Decode(rest); err != nil {
			return nil, err
		}
		if !f.Split && f.Body[0] < IDUser {
			if f.Body, err = reencodeControl(f.Body); err != nil {
				return nil, err
			}
		}
		out = f.Append(out)
	}
	return out, nil
}

func reencodeAck(b []byte) ([]byte, error) {
	acks, err := ParseAck(b)
	if err != nil {
		return nil, err
	}
	var ranges []Range
	for r, ok := acks.Next(); ok; r, ok = acks.Next() {
		ranges = append(ranges, r)
	}
	out, rest := AppendAck(nil, b[0], ranges, 1<<20)
	if len(rest) != 0 {
		return nil, fmt.Errorf("%d ranges are left over", len(rest))
	}
	return out, nil
}

// decoder is what every offline and control message can do.
type decoder interface{ Decode([]byte) error }

func reencodeOffline(b []byte, cookie bool) ([]byte, error) {
	switch b[0] {
	case IDUnconnectedPing, IDUnconnectedPingOpen:
		var m Ping
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDUnconnectedPong:
		var m Pong
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDRequest1:
		var m Request1
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDReply1:
		var m Reply1
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDRequest2:
		var m Request2
		err := m.Decode(b, cookie)
		return m.Append(nil), err
	case IDReply2:
		var m Reply2
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDIncompatible:
		var m Incompatible
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDAlreadyConnected, IDNoFreeSlots, IDBanned, IDRecentlyConnected:
		var m Refusal
		return both(&m, b, func() []byte { return m.Append(nil) })
	}
	return nil, ErrInvalid
}

func reencodeControl(b []byte) ([]byte, error) {
	switch b[0] {
	case IDConnectedPing:
		var m ConnPing
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDConnectedPong:
		var m ConnPong
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDConnRequest:
		var m ConnRequest
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDConnAccepted:
		var m ConnAccepted
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDNewIncoming:
		var m NewIncoming
		return both(&m, b, func() []byte { return m.Append(nil) })
	case IDDisconnect, IDDetectLost:
		return b[:1], nil
	}
	return nil, ErrInvalid
}

func both(m decoder, b []byte, encode func() []byte) ([]byte, error) {
	if err := m.Decode(b); err != nil {
		return nil, err
	}
	return encode(), nil
}
