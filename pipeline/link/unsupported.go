package link

// UnsupportedError says that this environment cannot do what the profile needs. It is an outcome, not a failure of the run.
type UnsupportedError struct {
	Missing string // what is missing, in plain words
	Fix     string // what the reader can do about it
}

// Error is one line with the missing piece and the fix.
func (e *UnsupportedError) Error() string {
	if e.Fix == "" {
		return e.Missing
	}
	return e.Missing + ": " + e.Fix
}
