package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// SamplesReader streams a samples file that it does not trust: no allocation depends on what the file says.
type SamplesReader struct {
	Kind        SampleKind
	Connections int
	Count       int64 // of all connections; every connection has Count/Connections

	r    *bufio.Reader
	left int64
}

// NewSamplesReader reads and checks the header.
func NewSamplesReader(r io.Reader) (*SamplesReader, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var head [samplesHeaderLen]byte
	if _, err := io.ReadFull(br, head[:]); err != nil {
		return nil, fmt.Errorf("samples header: %w", noEOF(err))
	}
	rest := head[len(samplesMagic):]
	kind, connections, count := SampleKind(rest[0]), binary.LittleEndian.Uint32(rest[1:5]), binary.LittleEndian.Uint64(rest[5:13])
	switch {
	case string(head[:len(samplesMagic)]) != samplesMagic:
		return nil, errors.New("samples header: not a samples file")
	case kind != SamplesSparse && kind != SamplesLoaded:
		return nil, fmt.Errorf("samples header: unknown kind %d", kind)
	case connections == 0 || connections > maxConnections:
		return nil, fmt.Errorf("samples header: %d connections are outside 1..%d", connections, maxConnections)
	case count > maxSamples:
		return nil, fmt.Errorf("samples header: %d samples are over the limit of %d", count, int64(maxSamples))
	case count%uint64(connections) != 0:
		return nil, fmt.Errorf("samples header: %d samples cannot be shared evenly by %d connections", count, connections)
	}
	return &SamplesReader{Kind: kind, Connections: int(connections), Count: int64(count), r: br, left: int64(count)}, nil
}

// Read fills dst with the next RTTs in ns and returns how many there were. io.EOF comes only after exactly Count samples and the
// end of the file; a short or long file is an error that says so.
func (s *SamplesReader) Read(dst []int64) (int, error) {
	for i := range dst {
		if s.left == 0 {
			return i, s.end()
		}
		b, err := s.r.Peek(8)
		if err != nil {
			return i, fmt.Errorf("samples: %d of %d are missing: %w", s.left, s.Count, noEOF(err))
		}
		v := binary.LittleEndian.Uint64(b)
		if v > math.MaxInt64 {
			return i, fmt.Errorf("samples: number %d is %d ns, which is no time", s.Count-s.left, v)
		}
		dst[i] = int64(v)
		s.left--
		_, _ = s.r.Discard(8) // cannot fail: Peek has buffered them
	}
	return len(dst), nil
}

func (s *SamplesReader) end() error {
	switch _, err := s.r.ReadByte(); err {
	case io.EOF:
		return io.EOF
	case nil:
		return fmt.Errorf("samples: more than the announced %d follow", s.Count)
	default:
		return fmt.Errorf("samples: %w", err)
	}
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
