package sandbox

import "fmt"

// LockMode says what to do when another benchmark runs on this machine.
type LockMode int

// Lock modes.
const (
	LockWait   LockMode = iota // wait for its end
	LockNoWait                 // fail with a *BusyError
	LockShared                 // go on beside it; every run is marked
)

// BusyError names who holds the machine.
type BusyError struct{ Owner string }

// Error is one line.
func (e *BusyError) Error() string {
	return fmt.Sprintf("machine: another benchmark runs here (%s); wait for it, or pass --shared to run beside it", e.Owner)
}
