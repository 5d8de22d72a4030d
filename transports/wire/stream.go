package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// LineError says which line of a driver's standard output breaks the contract, counted from 1.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("driver output line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// Stream reads the records of one driver while it runs, trusting nothing: it holds one line at most, accepts only what the
// contract allows next, and joins connections records into the result. It is not safe for concurrent use.
type Stream struct {
	r     *bufio.Reader
	order order
	line  int
	total int
	blank bool // the line before was empty: launch's own newline
	bad   bool // the line before was refused: launch's newline may have ended it
	ended error
}

// NewStream reads what a driver in the given role writes: RoleServer, RoleClient or RoleDescribe.
func NewStream(r io.Reader, role string) *Stream {
	return &Stream{r: bufio.NewReaderSize(r, MaxLine+1), order: order{role: role}}
}

// Next returns the next record by value (Hello, Ready, Connected, Start, Result, Done, Describe, Error or Exit). A *LineError is
// about one line and fails the run, but Next may be called again, since launch's exit record is worth having even then. Any other
// error is final: io.EOF after a complete sequence, ErrTotal (wrapped) beyond MaxTotal, ErrMissing (wrapped) when the output ended
// too early, or what the reader returned.
func (s *Stream) Next() (Record, error) {
	for s.ended == nil {
		b, err := s.readLine()
		if s.ended != nil {
			break
		}
		var rec Record
		if err == nil {
			rec, err = s.record(b)
		}
		if s.bad = err != nil; s.bad {
			s.blank = false
			return nil, &LineError{Line: s.line, Err: err}
		}
		if rec != nil {
			return rec, nil
		}
	}
	return nil, s.ended
}

// ErrTotal is wrapped by the error for more than MaxTotal bytes of output.
var ErrTotal = fmt.Errorf("more than %d bytes of records", MaxTotal)

// readLine returns one line without its newline, valid until the next call; at the end of everything it sets s.ended instead.
func (s *Stream) readLine() ([]byte, error) {
	b, err := s.read()
	if len(b) > 0 {
		s.line++
	}
	switch {
	case s.ended != nil:
		return nil, nil
	case errors.Is(err, bufio.ErrBufferFull):
		for errors.Is(err, bufio.ErrBufferFull) && s.ended == nil {
			_, err = s.read()
		}
		return nil, fmt.Errorf("longer than %d bytes", MaxLine)
	case err == io.EOF && len(b) > 0:
		return nil, errors.New("not ended by a newline")
	case err == io.EOF:
		s.ended = s.order.end(s.blank)
		return nil, nil
	case err != nil:
		s.ended = fmt.Errorf("driver output after line %d: %w", s.line, err)
		return nil, nil
	}
	return b[:len(b)-1], nil
}

// read returns the next piece up to a newline or a full buffer and keeps count of the total.
func (s *Stream) read() ([]byte, error) {
	b, err := s.r.ReadSlice('\n')
	if s.total += len(b); s.total > MaxTotal {
		s.ended = fmt.Errorf("driver output line %d: %w", s.line+1, ErrTotal)
	}
	return b, err
}

// record decodes a line and checks its place; nil, nil means that there is nothing to hand out yet.
func (s *Stream) record(b []byte) (Record, error) {
	afterBlank, afterBad := s.blank, s.bad
	s.blank = len(bytes.TrimSpace(b)) == 0
	if s.blank {
		if afterBlank {
			return nil, errors.New("empty line")
		}
		return nil, nil
	}
	rec, err := Decode(b)
	if err != nil {
		return nil, err
	}
	_, isExit := rec.(Exit)
	if isExit && !afterBlank && !afterBad {
		return nil, errors.New("exit record without launch's empty line before it: a driver must not write one")
	}
	if afterBlank && !isExit {
		return nil, errors.New("empty line before it; only launch writes one, before its exit record")
	}
	return s.order.add(rec)
}

// Decode parses one line, without a newline, strictly: one JSON object of a known type, no unknown fields, nothing after it.
func Decode(line []byte) (Record, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("not a JSON record: %w", err)
	}
	switch head.Type {
	case TypeDescribe:
		return decode[Describe](line)
	case TypeHello:
		return decode[Hello](line)
	case TypeReady:
		return decode[Ready](line)
	case TypeConnected:
		return decode[Connected](line)
	case TypeStart:
		return decode[Start](line)
	case TypeConnections:
		return decode[Connections](line)
	case TypeResult:
		return decode[Result](line)
	case TypeDone:
		return decode[Done](line)
	case TypeError:
		return decode[Error](line)
	case TypeExit:
		return decode[Exit](line)
	}
	return nil, fmt.Errorf("unknown record type %.40q", head.Type)
}

func decode[R Record](line []byte) (Record, error) {
	var r R
	d := json.NewDecoder(bytes.NewReader(line)) // Decode's Unmarshal has refused anything after the object
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("%T record: %w", r, err)
	}
	return r, nil
}
