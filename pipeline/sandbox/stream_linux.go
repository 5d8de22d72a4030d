package sandbox

import (
	"os"
	"sync"
)

// stream is the reading end of a driver's pipe that knows when it has been read to its end.
type stream struct {
	file    *os.File
	drained chan struct{}
	once    sync.Once
}

func newStream(f *os.File) *stream { return &stream{file: f, drained: make(chan struct{})} }

// Read closes the pipe at its end, so that a finished run holds no descriptors.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	if err != nil {
		s.close()
	}
	return n, err
}

func (s *stream) close() {
	s.once.Do(func() {
		s.file.Close()
		close(s.drained)
	})
}
