package artifacts

import (
	"errors"
	"fmt"
)

// Kinds of defects that callers tell apart with errors.Is.
var (
	ErrExists   = errors.New("already exists and is never overwritten")
	ErrChain    = errors.New("hash chain broken")
	ErrLimit    = errors.New("over the limit of the format")
	ErrMalf     = errors.New("malformed")
	ErrName     = errors.New("name not allowed")
	ErrTampered = errors.New("content differs from its recorded hash")
	ErrFormat   = errors.New("format not supported")
	ErrSealed   = errors.New("sealed")
	ErrInUse    = errors.New("in use by another process")
)

// Error says where in an artifact a defect is.
type Error struct {
	File string // path inside the artifact
	Line int    // from 1; 0: the file as a whole
	Err  error
}

// Error renders "file:line: what".
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func at(file string, line int, err error) error {
	if err == nil {
		return nil
	}
	return &Error{File: file, Line: line, Err: err}
}

func atf(file string, line int, kind error, format string, args ...any) error {
	return at(file, line, fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...)))
}
