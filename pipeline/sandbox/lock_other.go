//go:build !linux

package sandbox

import "context"

// Lock returns an *UnsupportedError.
func Lock(context.Context, string, LockMode, func(owner string)) (release func(), shared bool, err error) {
	return nil, false, errNotLinux
}

// Topology returns an *UnsupportedError.
func Topology() ([]CPU, error) { return nil, errNotLinux }

// LockPath is empty: nothing is measured here.
func LockPath() string { return "" }
