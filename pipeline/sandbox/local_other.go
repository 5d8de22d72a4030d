//go:build !linux

package sandbox

import "context"

// HolderArg is the hidden first argument of a holder.
const HolderArg = "__holder"

var errNotLinux = &UnsupportedError{
	What: "the local runtime: needs Linux namespaces",
	Fix:  "use --runtime docker, or run bench in a Linux virtual machine; plan, analyze, compare, report and verify work here",
}

// HolderMain reports that there are no namespaces here.
func HolderMain([]string) int { return 1 }

// Local is the runtime on Linux namespaces; it cannot be made on this system.
type Local struct{}

// NewLocal returns an *UnsupportedError.
func NewLocal(string) (*Local, error) { return nil, errNotLinux }

// Name returns "local".
func (*Local) Name() string { return "local" }

// Probe returns an *UnsupportedError.
func (*Local) Probe(context.Context) (Probe, error) { return Probe{}, errNotLinux }

// Open returns an *UnsupportedError.
func (*Local) Open(context.Context, EnvSpec) (Env, error) { return nil, errNotLinux }

// Close does nothing.
func (*Local) Close() error { return nil }
