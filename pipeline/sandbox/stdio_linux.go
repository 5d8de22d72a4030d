package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// stdio carries messages over a pair of byte streams, one a line: the standard streams of a container.
type stdio struct {
	in   *bufio.Reader
	out  io.Writer
	send sync.Mutex // one message at a time
	stop func() error
}

// newStdio closes with stop, which ends both directions.
func newStdio(in io.Reader, out io.Writer, stop func() error) *stdio {
	return &stdio{in: bufio.NewReaderSize(in, maxMessage+1), out: out, stop: stop}
}

var errLongMessage = fmt.Errorf("holder message: longer than the limit of %d bytes", maxMessage)

func (s *stdio) write(msg []byte, files []*os.File) error {
	if len(files) > 0 {
		return errors.New("holder message: a container takes no descriptors")
	}
	if len(msg) > maxMessage {
		return errLongMessage
	}
	s.send.Lock()
	defer s.send.Unlock()
	_, err := s.out.Write(append(msg, '\n'))
	return err
}

// read takes a stream that breaks off for its end: the engine closes it when the other side is gone.
func (s *stdio) read() ([]byte, []int, error) {
	line, err := s.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, nil, errLongMessage
	case err != nil:
		return nil, nil, io.EOF
	}
	return line[:len(line)-1], nil, nil
}

func (s *stdio) close() error { return s.stop() }
