package wire

// Exit codes of a driver. Anything else, and death by a signal, is a failure.
const (
	ExitOK           = 0   // everything planned was sent, echoed and verified
	ExitFailed       = 1   // the run could not be completed
	ExitUsage        = 2   // unknown flag or a value outside its range
	ExitVerification = 3   // an echo was wrong, missing, reordered or repeated
	ExitUnsupported  = 127 // the driver does not offer what was asked
)
