package artifacts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"transportbench/transports/wire"
)

// Samples are raw RTTs in ns, connection after connection, each in order of completion.
type Samples struct {
	Kind        wire.SampleKind
	Connections int
	NS          []int64
}

// samplesBytes bounds an uncompressed samples file: its header and the values.
const samplesBytes = 64 + 8*MaxSamples

// DecodeSamples reads the file that a driver writes with -samples-file. It must end exactly after its last value.
func DecodeSamples(b []byte) (Samples, error) {
	r, err := wire.NewSamplesReader(bytes.NewReader(b))
	if err != nil {
		return Samples{}, fmt.Errorf("%w: %w", ErrMalf, err)
	}
	if r.Count > MaxSamples || r.Count > int64(len(b)/8) {
		return Samples{}, fmt.Errorf("%w: %d samples announced in %d bytes", ErrMalf, r.Count, len(b))
	}
	s := Samples{Kind: r.Kind, Connections: r.Connections, NS: make([]int64, r.Count)}
	if _, err := r.Read(s.NS); err != nil && !errors.Is(err, io.EOF) {
		return Samples{}, fmt.Errorf("%w: %w", ErrMalf, err)
	}
	var more [1]int64
	if _, err := r.Read(more[:]); !errors.Is(err, io.EOF) {
		return Samples{}, fmt.Errorf("%w: %w", ErrMalf, err)
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
	b, err := readFile(root, name, samplesBytes)
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
	d, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(samplesBytes+1<<20))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalf, err)
	}
	defer d.Close()
	raw, err := io.ReadAll(io.LimitReader(d, samplesBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalf, err)
	}
	if len(raw) > samplesBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrLimit, samplesBytes)
	}
	return raw, nil
}
