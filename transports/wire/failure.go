package wire

import (
	"context"
	"errors"
	"fmt"
)

// UsageError says that a flag is unknown, missing or out of range: exit code 2.
type UsageError struct {
	Flag   string // without the dash; empty when no single flag is to blame
	Reason string
}

func (e *UsageError) Error() string {
	if e.Flag == "" {
		return "usage: " + e.Reason
	}
	return "flag -" + e.Flag + ": " + e.Reason
}

// UnsupportedError says that the invocation is well formed but not offered by this driver: exit code 127.
type UnsupportedError struct {
	What string // what was asked for, with the reason where one is known
}

func (e *UnsupportedError) Error() string { return e.What + " is not supported by this driver" }

// VerificationError says that an echo was wrong, missing, reordered or repeated: exit code 3.
type VerificationError struct {
	Connection uint64
	Message    uint64 // the number that was expected
	Reason     string
}

func (e *VerificationError) Error() string {
	return fmt.Sprintf("connection %d message %d: %s", e.Connection, e.Message, e.Reason)
}

// ErrInterrupted is the failure of a client that was told to stop by a signal.
var ErrInterrupted = errors.New("run interrupted by a signal")

// Codes of an error record. The set is open for codes of a transport's own; these are the ones bench knows.
const (
	CodeUsage        = "usage"
	CodeUnsupported  = "unsupported"
	CodeVerification = "verification"
	CodeDeadline     = "deadline"
	CodeInterrupted  = "interrupted"
	CodeFailed       = "failed"
)

// Failure maps an error to the exit code of the driver and to its error record. A nil error gives ExitOK.
func Failure(err error) (exit int, rec Error) {
	if err == nil {
		return ExitOK, Error{}
	}
	var (
		usage       *UsageError
		unsupported *UnsupportedError
		verify      *VerificationError
	)
	exit, rec.Code = ExitFailed, CodeFailed
	switch {
	case errors.As(err, &usage):
		exit, rec.Code = ExitUsage, CodeUsage
	case errors.As(err, &unsupported):
		exit, rec.Code = ExitUnsupported, CodeUnsupported
	case errors.As(err, &verify):
		exit, rec.Code = ExitVerification, CodeVerification
	case errors.Is(err, context.DeadlineExceeded):
		rec.Code = CodeDeadline
	case errors.Is(err, ErrInterrupted):
		rec.Code = CodeInterrupted
	}
	rec.Message = err.Error()
	return exit, rec
}
