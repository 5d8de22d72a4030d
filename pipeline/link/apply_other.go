//go:build !linux

package link

import (
	"context"
	"runtime"

	"transportbench/pipeline/matrix"
)

// Applied is a configured link; it exists only on Linux.
type Applied struct{ state State }

func unsupported() error {
	return &UnsupportedError{
		Missing: "impaired loopback needs Linux, this is " + runtime.GOOS,
		Fix:     "run inside a Linux machine, a virtual machine or Docker",
	}
}

// Apply refuses with an *UnsupportedError.
func Apply(context.Context, matrix.LinkSpec, Options) (*Applied, error) { return nil, unsupported() }

// Probe reports each backend as unavailable.
func Probe(context.Context) []Capability {
	var caps []Capability
	for _, name := range preference {
		caps = append(caps, Capability{Backend: name, Reason: "needs Linux, this is " + runtime.GOOS, Fix: "run inside a Linux machine, a virtual machine or Docker"})
	}
	return caps
}

// State is empty.
func (a *Applied) State() State { return a.state }

// Counters refuses with an *UnsupportedError.
func (a *Applied) Counters(context.Context) (Counters, error) { return Counters{}, unsupported() }

// Close does nothing.
func (a *Applied) Close() error { return nil }
