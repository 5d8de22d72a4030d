package tcp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"transportbench/transports/echo"
)

// pieces hands out a stream in pieces of random length, as a socket may.
type pieces struct {
	left []byte
	rand *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+p.rand.IntN(97))], p.left)
	p.left = p.left[n:]
	return n, nil
}

// split returns all records that s finds in the stream, none longer than 64 bytes.
func split(from io.Reader, size int) (all [][]byte, err error) {
	s := records{most: 64, buf: make([]byte, size)}
	b := make([]byte, 64)
	for {
		n, ok, err := s.next(b)
		if err != nil {
			return all, err
		}
		if ok {
			all = append(all, bytes.Clone(b[:n]))
			continue
		}
		if err := s.fill(from); err != nil {
			return all, err
		}
	}
}

func TestRecordsSurviveEverySplit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var want [][]byte
		var stream []byte
		for range r.IntN(40) {
			b := bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(65))
			want = append(want, b)
			stream = appendRecord(stream, b)
		}
		got, err := split(&pieces{stream, r}, 68+r.IntN(500))
		if err != io.EOF || len(got) != len(want) {
			t.Fatalf("%d of %d records, %v", len(got), len(want), err)
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("record %d is % x, want % x", i, got[i], want[i])
			}
		}
	}
}

func TestRecordsRefuse(t *testing.T) {
	for name, tc := range map[string]struct {
		stream []byte
		want   error
	}{
		"too long":      {appendRecord(nil, make([]byte, 65)), echo.ErrTooLong},
		"huge":          {[]byte{0xff, 0xff, 0xff, 0xff, 1}, echo.ErrTooLong},
		"torn header":   {[]byte{1, 0}, io.ErrUnexpectedEOF},
		"torn body":     {[]byte{5, 0, 0, 0, 1, 2}, io.ErrUnexpectedEOF},
		"ends in order": {appendRecord(nil, []byte{1}), io.EOF},
	} {
		if _, err := split(iotest.OneByteReader(bytes.NewReader(tc.stream)), 200); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", name, err, tc.want)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(appendRecord(appendRecord(nil, []byte("abc")), nil), uint64(1))
	f.Add([]byte{0, 0, 0, 0x80, 1}, uint64(2))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		whole, err := split(bytes.NewReader(stream), 300)
		again, err2 := split(&pieces{stream, rand.New(rand.NewPCG(seed, 1))}, 100)
		if len(whole) != len(again) || (err == io.EOF) != (err2 == io.EOF) {
			t.Fatalf("%d records and %v, in other pieces %d and %v", len(whole), err, len(again), err2)
		}
		var back []byte
		for i := range whole {
			if !bytes.Equal(whole[i], again[i]) {
				t.Fatalf("record %d differs", i)
			}
			back = appendRecord(back, whole[i])
		}
		if !bytes.HasPrefix(stream, back) {
			t.Fatal("records are not what the stream holds")
		}
	})
}
