package sandbox

import (
	"slices"
	"strings"
	"time"
)

// defaultStopTERM is what a driver gets to end itself when ProcSpec says nothing.
const defaultStopTERM = 5 * time.Second

// driverNice keeps drivers behind interactive work, as in the published benchmark; launch sets and reports it.
const driverNice = "10"

// driverArgs are the driver's arguments; samples is the samples file, if one is wanted, as the driver sees it.
func driverArgs(spec ProcSpec, samples string) []string {
	if spec.Samples == "" {
		return spec.Args
	}
	args := slices.DeleteFunc(slices.Clone(spec.Args), func(a string) bool { return strings.HasPrefix(a, "-samples-file=") })
	return append(args, "-samples-file="+samples)
}

// killLate waits for the end of a driver that was asked to end, and kills it after ProcSpec.StopTERM.
func killLate(spec ProcSpec, done, gone <-chan struct{}, kill func() error) error {
	patience := spec.StopTERM
	if patience == 0 {
		patience = defaultStopTERM
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-gone:
		return nil
	case <-timer.C:
		return kill()
	}
}
