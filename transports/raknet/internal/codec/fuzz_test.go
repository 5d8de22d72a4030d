package codec

import (
	"bytes"
	"path/filepath"
	"testing"
)

// seeds are the recorded datagrams, cut so that a fuzzer gets on with them.
func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		for _, b := range recorded(f, name) {
			f.Add(b[:min(len(b), 200)], false)
			f.Add(b[:min(len(b), 200)], true)
		}
	}
}

// FuzzDatagram holds every decoder to one rule: what decodes encodes, and what was encoded decodes to the same again.
func FuzzDatagram(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte, cookie bool) {
		if len(b) == 0 || len(b) > 1<<16 {
			return
		}
		again := reencode
		if b[0]&FlagValid == 0 && len(b) > 1 {
			again = func(b []byte) ([]byte, error) { return reencodeOffline(b, cookie) }
		}
		once, err := again(b)
		if err != nil {
			return
		}
		twice, err := again(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%v\nonce  %x\ntwice %x", err, once, twice)
		}
	})
}

// FuzzControl does the same with control messages, which the other target meets only inside of valid frames.
func FuzzControl(f *testing.F) {
	sys := Fillers()
	accepted := ConnAccepted{Client: EmptyAddr, Systems: sys, RequestTime: 1, AcceptTime: 2}
	f.Add(accepted.Append(nil))
	f.Add(accepted.Append(nil)[:8]) // cut before the system index
	incoming := NewIncoming{Server: EmptyAddr, Systems: sys}
	f.Add(incoming.Append(nil))
	f.Add(ConnRequest{GUID: 1, Time: 2}.Append(nil))
	f.Add(ConnPong{1, 2}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		once, err := reencodeControl(b)
		if err != nil {
			return
		}
		twice, err := reencodeControl(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%v\nonce  %x\ntwice %x", err, once, twice)
		}
	})
}
