package vm

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	long := strings.Repeat("x", maxFrame+7)
	if _, err := io.WriteString(frameWriter{&b, frameStdout}, long); err != nil {
		t.Fatal(err)
	}
	if err := writeFrame(&b, frameAlive, nil); err != nil {
		t.Fatal(err)
	}
	if err := writeFrame(&b, frameTar, []byte(long)); !errors.Is(err, errFrame) {
		t.Errorf("oversized frame: %v", err)
	}
	buf, got := make([]byte, maxFrame), ""
	for {
		k, p, err := readFrame(&b, buf)
		if err != nil {
			t.Fatal(err)
		}
		if k == frameAlive {
			break
		}
		got += string(p)
	}
	if got != long {
		t.Errorf("%d bytes came back, want %d", len(got), len(long))
	}
	if _, _, err := readFrame(&b, buf); err != io.EOF {
		t.Errorf("after the last frame: %v", err)
	}
}

// FuzzReadFrame feeds noise: whatever it is, a frame is known and within bounds, or there is an error.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("h\x02\x00\x00\x00{}"))
	f.Add([]byte("t\xff\xff\xff\xff"))
	f.Add([]byte("o\x05\x00\x00\x00abc"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, buf := bytes.NewReader(b), make([]byte, maxFrame)
		for {
			k, p, err := readFrame(r, buf)
			if err != nil {
				return
			}
			if !k.known() || len(p) > maxFrame {
				t.Fatalf("accepted kind %#x with %d bytes", k, len(p))
			}
		}
	})
}
