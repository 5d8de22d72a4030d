//go:build !linux

package echo

import "runtime"

// Drivers measure on Linux only; elsewhere the package builds, and what cannot be read back is zero.

func affinity() []int {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

func nice() int         { return 0 }
func openFiles() uint64 { return 0 }
func threads() int      { return 0 }
func monoNS() int64     { return 0 }
