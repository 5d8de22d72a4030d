package artifacts

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// Kinds of a samples file.
const (
	KindSparse = 1 // sequential or pre-burst rounds
	KindLoaded = 2 // burst messages
)

// Samples are raw RTTs in ns, connection after connection, each in order of completion.
type Samples struct {
	Kind        int
	Connections int
	NS          []int64
}

var samplesMagic = [7]byte{'T', 'B', 'R', 'T', 'T', '1', '\n'}

// samplesHead is 7 bytes of magic, kind u8, connections u32 and count u64, little-endian.
const samplesHead = 7 + 1 + 4 + 8

// DecodeSamples reads the file that a driver writes with -samples-file. It must end exactly after its last value.
func DecodeSamples(b []byte) (Samples, error) {
	var s Samples
	if len(b) < samplesHead || [7]byte(b[:7]) != samplesMagic {
		return s, fmt.Errorf("%w: samples file does not begin with TBRTT1", ErrMalf)
	}
	s.Kind, s.Connections = int(b[7]), int(binary.LittleEndian.Uint32(b[8:]))
	if s.Kind != KindSparse && s.Kind != KindLoaded {
		return s, fmt.Errorf("%w: samples of unknown kind %d", ErrMalf, s.Kind)
	}
	n := binary.LittleEndian.Uint64(b[12:])
	if n > MaxSamples {
		return s, fmt.Errorf("%w: %d samples", ErrLimit, n)
	}
	body := b[samplesHead:]
	if uint64(len(body)) != 8*n {
		return s, fmt.Errorf("%w: samples file announces %d values and holds %d bytes of them", ErrMalf, n, len(body))
	}
	s.NS = make([]int64, n)
	for i := range s.NS {
		v := binary.LittleEndian.Uint64(body[8*i:])
		if v > 1<<62 {
			return s, fmt.Errorf("%w: sample %d is %d ns", ErrMalf, i, v)
		}
		s.NS[i] = int64(v)
	}
	return s, nil
}

// ReadSamples returns the raw RTTs stored under a name of Record.Series.
func ReadSamples(dir, name string) (Samples, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Samples{}, fmt.Errorf("artifact: %w", err)
	}
	defer func() { _ = root.Close() }() // read only
	if err := ValidName(name); err != nil {
		return Samples{}, err
	}
	b, err := readFile(root, name, samplesHead+16*MaxSamples)
	if err != nil {
		return Samples{}, err
	}
	raw, err := unpack(b)
	if err != nil {
		return Samples{}, at(name, 0, err)
	}
	s, err := DecodeSamples(raw)
	return s, at(name, 0, err)
}

// unpack decompresses with a bound, so that a small file cannot become a huge one.
func unpack(b []byte) ([]byte, error) {
	const limit = samplesHead + 8*MaxSamples
	d, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(limit+1<<20))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalf, err)
	}
	defer d.Close()
	raw, err := io.ReadAll(io.LimitReader(d, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalf, err)
	}
	if len(raw) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrLimit, limit)
	}
	return raw, nil
}
