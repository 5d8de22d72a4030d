package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func readAll(b []byte) (*SamplesReader, []int64, error) {
	r, err := NewSamplesReader(bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	var all []int64
	for buf := make([]int64, 3); ; {
		n, err := r.Read(buf)
		all = append(all, buf[:n]...)
		if err == io.EOF {
			return r, all, nil
		}
		if err != nil {
			return r, all, err
		}
	}
}

func encoded(kind SampleKind, connections int, ns ...int64) []byte {
	var b bytes.Buffer
	if err := EncodeSamples(&b, kind, connections, ns); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestSamplesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rtt")
	want := []int64{5, 1 << 40, 0, 7}
	if err := WriteSamples(path, SamplesLoaded, 2, want); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if head := "TBRTT1\n\x02\x02\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x05\x00"; !strings.HasPrefix(string(b), head) {
		t.Errorf("file begins with %q, want %q", b[:min(len(b), len(head))], head)
	}
	r, got, err := readAll(b)
	if err != nil || !slices.Equal(got, want) || r.Kind != SamplesLoaded || r.Connections != 2 || r.Count != 4 {
		t.Errorf("got %v %+v, %v", got, r, err)
	}
	if err := WriteSamples(path, SamplesLoaded, 2, want); !errors.Is(err, os.ErrExist) {
		t.Errorf("second write: got %v, want that the file exists", err)
	}
}

func TestSamplesEmpty(t *testing.T) {
	if r, got, err := readAll(encoded(SamplesSparse, 1)); err != nil || len(got) != 0 || r.Count != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSamplesReaderRefuses(t *testing.T) {
	good := encoded(SamplesSparse, 2, 1, 2)
	huge := slices.Clone(good)
	binary.LittleEndian.PutUint64(huge[12:], 1<<60)
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"empty":          {nil, "unexpected EOF"},
		"short header":   {good[:19], "unexpected EOF"},
		"magic":          {append([]byte("TBRTT2\n"), good[7:]...), "not a samples file"},
		"kind":           {encoded(3, 1, 1), "unknown kind 3"},
		"no connections": {encoded(SamplesSparse, 0), "0 connections are outside"},
		"connections":    {encoded(SamplesSparse, 1<<21), "2097152 connections are outside"},
		"uneven":         {encoded(SamplesSparse, 2, 1, 2, 3), "3 samples cannot be shared evenly by 2"},
		"huge":           {huge, "over the limit"},
		"short":          {good[:len(good)-1], "1 of 2 are missing"},
		"long":           {append(slices.Clone(good), 0), "more than the announced 2"},
		"negative":       {encoded(SamplesSparse, 1, -1), "is no time"},
	} {
		if _, _, err := readAll(tc.file); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, tc.want)
		}
	}
}

func FuzzSamples(f *testing.F) {
	f.Add(encoded(SamplesSparse, 2, 1, 2))
	f.Add(encoded(SamplesLoaded, 1))
	f.Add([]byte(samplesMagic))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, ns, err := readAll(file)
		if err != nil {
			return
		}
		if again := encoded(r.Kind, r.Connections, ns...); !bytes.Equal(again, file) {
			t.Fatalf("%x is read as %v but written as %x", file, ns, again)
		}
	})
}
