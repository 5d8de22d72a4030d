package sandbox

import "fmt"

// UnsupportedError says that this machine cannot do what was asked. The outcome of such a run is unsupported, not failed.
type UnsupportedError struct {
	What string // the thing and what is wrong with it, in plain words
	Fix  string // what the user can do
	Err  error  // the kernel's answer, may be nil
}

// Error is one line: what is missing, then the fix.
func (e *UnsupportedError) Error() string {
	if e.Fix == "" {
		return e.What
	}
	return e.What + "; " + e.Fix
}

// Unwrap returns the kernel's answer.
func (e *UnsupportedError) Unwrap() error { return e.Err }

// HolderError says that the process that keeps a private network alive ended before it was told to.
type HolderError struct {
	RunID  string
	Stderr string // last lines of its standard error
	Err    error
}

// Error is one line.
func (e *HolderError) Error() string {
	s := fmt.Sprintf("holder of %s ended early: %v", e.RunID, e.Err)
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}

// Unwrap returns how the holder ended.
func (e *HolderError) Unwrap() error { return e.Err }

// ProgramError names a program that cannot be started.
type ProgramError struct {
	Role string // launch or driver
	Path string
	Fix  string
	Err  error
}

// Error is one line.
func (e *ProgramError) Error() string {
	return fmt.Sprintf("%s %s: %v; %s", e.Role, e.Path, e.Err, e.Fix)
}

// Unwrap returns the reason.
func (e *ProgramError) Unwrap() error { return e.Err }
