package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenPayloads are the vectors of testdata/payload.golden, one line each: connection, message, size, hex. Drivers in other
// languages test themselves against the same file.
func goldenPayloads() string {
	var out strings.Builder
	for _, v := range []struct {
		conn, msg uint64
		size      int
	}{
		{0, 0, 17}, {0, 1, 18}, {1, 0, 17}, {0xFE, 0xFE, 20}, {1023, 1043, 64}, {258, 66051, 33}, {1<<64 - 1, 1<<63 + 5, 24}, {2047, 531, 128},
	} {
		b := make([]byte, v.size)
		BuildPayload(b, v.conn, v.msg)
		fmt.Fprintf(&out, "%d %d %d %s\n", v.conn, v.msg, v.size, hex.EncodeToString(b))
	}
	return out.String()
}

func TestPayloadGolden(t *testing.T) {
	const file = "testdata/payload.golden"
	got := goldenPayloads()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("payloads differ from %s:\n%s", file, got)
	}
}

// Written out by hand from the layout, so that a wrong BuildPayload cannot bless itself through -update.
func TestPayloadLayout(t *testing.T) {
	b := make([]byte, 19)
	BuildPayload(b, 0x0102, 0x030405)
	want := []byte{0xFE, 2, 1, 0, 0, 0, 0, 0, 0, 5, 4, 3, 0, 0, 0, 0, 0, 0xFE, 0xFE}
	if !bytes.Equal(b, want) {
		t.Errorf("got % x, want % x", b, want)
	}
}

func TestNumberPayload(t *testing.T) {
	b := make([]byte, 40)
	BuildPayload(b, 7, 1)
	NumberPayload(b, 1<<40+2)
	if err := CheckPayload(b, 7, 1<<40+2); err != nil {
		t.Error(err)
	}
}

func TestCheckPayloadFindsEveryByte(t *testing.T) {
	for _, size := range []int{17, 18, 19, 64, 800, 801} {
		b := make([]byte, size)
		BuildPayload(b, 0xFEFEFEFE, 0xFEFE)
		if err := CheckPayload(b, 0xFEFEFEFE, 0xFEFE); err != nil {
			t.Fatalf("size %d: %v", size, err)
		}
		for i := range b {
			b[i] ^= 0x10
			var v *VerificationError
			if err := CheckPayload(b, 0xFEFEFEFE, 0xFEFE); !errors.As(err, &v) || v.Message != 0xFEFE || strings.Contains(v.Reason, "no difference") {
				t.Fatalf("size %d byte %d: got %v", size, i, err)
			}
			b[i] ^= 0x10
		}
	}
	if err := CheckPayload(make([]byte, 16), 0, 0); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Errorf("short payload: got %v", err)
	}
	// All bytes after the header equal, but not the fill: the shifted comparison alone would pass.
	b := make([]byte, 64)
	BuildPayload(b, 1, 2)
	copy(b[MinPayload:], bytes.Repeat([]byte{0xEF}, 64))
	if CheckPayload(b, 1, 2) == nil {
		t.Error("wrong fill passed")
	}
}

func BenchmarkCheckPayload(b *testing.B) {
	for _, size := range []int{64, 800, 4096} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			p := make([]byte, size)
			BuildPayload(p, 3, 4)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := CheckPayload(p, 3, 4); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
