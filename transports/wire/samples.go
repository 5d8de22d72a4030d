package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// SampleKind says under which conditions the RTTs of a samples file were taken.
type SampleKind uint8

// Kinds of samples.
const (
	SamplesSparse SampleKind = 1 // sequential rounds, one message at a time per connection
	SamplesLoaded SampleKind = 2 // the burst
)

// samplesMagic opens a samples file; kind u8, connections u32 and count u64 follow, then count times a u64 in ns, all little endian.
const samplesMagic = "TBRTT1\n"

const (
	samplesHeaderLen = len(samplesMagic) + 1 + 4 + 8
	maxSamples       = 1 << 32 // 32 GiB of file; far beyond any plan, and a bound for whoever sizes by it
)

// SamplesFile is a samples file that was created but has no content yet. A nil SamplesFile is none at all.
type SamplesFile struct{ f *os.File }

// CreateSamples creates path, which must not exist; an empty path gives nil.
func CreateSamples(path string) (*SamplesFile, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("samples file: %w", err)
	}
	return &SamplesFile{f: f}, nil
}

// Write completes the file with the RTTs in ns of all connections: connection after connection, each in the order of completion
// and each with the same number.
func (s *SamplesFile) Write(kind SampleKind, connections int, ns []int64) error {
	w := bufio.NewWriterSize(s.f, 64<<10)
	err := EncodeSamples(w, kind, connections, ns)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = s.f.Close()
	}
	if err != nil {
		return fmt.Errorf("samples file %s: %w", s.f.Name(), err)
	}
	s.f = nil
	return nil
}

// Discard removes a file that was not completed. It does nothing after Write succeeded.
func (s *SamplesFile) Discard() {
	if s == nil || s.f == nil {
		return
	}
	_ = s.f.Close()
	_ = os.Remove(s.f.Name())
}

// WriteSamples creates path and writes it in one go.
func WriteSamples(path string, kind SampleKind, connections int, ns []int64) error {
	s, err := CreateSamples(path)
	if err != nil || s == nil {
		return err
	}
	defer s.Discard()
	return s.Write(kind, connections, ns)
}

// EncodeSamples writes what a samples file holds. w should buffer.
func EncodeSamples(w io.Writer, kind SampleKind, connections int, ns []int64) error {
	head := append(make([]byte, 0, samplesHeaderLen), samplesMagic...)
	head = append(head, byte(kind))
	head = binary.LittleEndian.AppendUint32(head, uint32(connections))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(ns)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	var b [8]byte
	for _, v := range ns {
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		if _, err := w.Write(b[:]); err != nil {
			return err
		}
	}
	return nil
}
