package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Topology describes the CPUs that this process, and so every driver it starts, may use.
func Topology() ([]CPU, error) {
	cpus, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	return ReadTopology(os.DirFS("/sys"), cpus), nil
}

// allowedCPUs is what sched_getaffinity says about this process; drivers inherit it.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("affinity: %w", err)
	}
	var cpus []int
	for n := 0; len(cpus) < set.Count(); n++ {
		if set.IsSet(n) {
			cpus = append(cpus, n)
		}
	}
	return cpus, nil
}
