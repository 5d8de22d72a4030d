//go:build linux

package udp

import (
	"bytes"
	"errors"
	"testing"

	"transportbench/transports/wire"
)

func TestShapes(t *testing.T) {
	for _, c := range []struct{ payload, datagram, fragments, largest, last int }{
		{17, 0, 1, 17, 17},
		{64, 0, 1, 64, 64},
		{800, 0, 1, 800, 800},
		{1400, 0, 1, 1400, 1400},
		{1401, 0, 2, 16 + 701, 16 + 700},
		{4096, 0, 3, 16 + 1366, 16 + 1364},
		{32 * 1384, 0, 32, 1400, 1400},
		{800, 500, 2, 416, 416},
	} {
		s, err := newShape(c.payload, c.datagram)
		if err != nil {
			t.Fatal(err)
		}
		last := len(datagrams(s, 0, 0)[s.fragments-1])
		if s.fragments != c.fragments || s.largest() != c.largest || last != c.last {
			t.Errorf("%d B: %d fragments, largest %d, last %d; want %+v", c.payload, s.fragments, s.largest(), last, c)
		}
	}
}

func TestShapesThatDoNotExist(t *testing.T) {
	for _, c := range []struct{ payload, datagram int }{{32*1384 + 1, 0}, {800, 32}} {
		var unsupported *wire.UnsupportedError
		if _, err := newShape(c.payload, c.datagram); !errors.As(err, &unsupported) {
			t.Errorf("%+v: error %v, want unsupported", c, err)
		}
	}
}

// datagrams builds what connection conn sends for message msg.
func datagrams(s shape, conn, msg uint64) [][]byte {
	b := make([]byte, s.payload)
	wire.BuildPayload(b, conn, msg)
	if s.fragments == 1 {
		return [][]byte{b}
	}
	var all [][]byte
	for i := range s.fragments {
		head := make([]byte, headSize)
		s.head(head, conn, msg, i)
		all = append(all, append(head, s.part(b, i)...))
	}
	return all
}

func TestCheckNamesEveryWrongByte(t *testing.T) {
	for _, payload := range []int{17, 64, 4096} {
		s, err := newShape(payload, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range datagrams(s, 7, 1<<20) {
			if msg, fragment, err := s.check(d, 7); err != nil || msg != 1<<20 || fragment != i {
				t.Fatalf("%d B fragment %d: message %d fragment %d, %v", payload, i, msg, fragment, err)
			}
			for at := range d {
				checkFlipped(t, s, d, i, at)
			}
		}
	}
}

// checkFlipped wants an error, or at least another number: whether a number was sent is the caller's question.
func checkFlipped(t *testing.T, s shape, d []byte, fragment, at int) {
	t.Helper()
	bad := bytes.Clone(d)
	bad[at] ^= 0x40
	msg, got, err := s.check(bad, 7)
	var wrong *wire.VerificationError
	if !errors.As(err, &wrong) && msg == 1<<20 && got == fragment {
		t.Errorf("%d B fragment %d: wrong byte %d passes", s.payload, fragment, at)
	}
}

func TestCheckOfLengths(t *testing.T) {
	for _, payload := range []int{64, 4096} {
		s, err := newShape(payload, 0)
		if err != nil {
			t.Fatal(err)
		}
		d := datagrams(s, 0, 0)[0]
		for _, bad := range [][]byte{nil, d[:3], d[:headSize], d[:len(d)-1], append(bytes.Clone(d), wire.Fill)} {
			var wrong *wire.VerificationError
			if _, _, err := s.check(bad, 0); !errors.As(err, &wrong) {
				t.Errorf("payload %d: datagram of %d bytes passes", payload, len(bad))
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, payload := range []int{17, 800, 4096} {
		s, err := newShape(payload, 0)
		if err != nil {
			f.Fatal(err)
		}
		for _, d := range datagrams(s, 3, 9) {
			f.Add(d, payload)
			f.Add(d[:len(d)/2], payload)
		}
	}
	f.Fuzz(func(t *testing.T, d []byte, payload int) {
		s, err := newShape(min(max(payload, wire.MinPayload), 8192), 0)
		if err != nil {
			t.Fatal(err)
		}
		msg, fragment, err := s.check(d, 3)
		if err == nil && !bytes.Equal(d, datagrams(s, 3, msg)[fragment]) {
			t.Errorf("accepted %x as message %d fragment %d", d, msg, fragment)
		}
	})
}
