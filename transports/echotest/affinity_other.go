//go:build !linux

package echotest

import "os/exec"

func startPinned(cmd *exec.Cmd, cpus []int) error {
	if cpus != nil {
		return errNotHere
	}
	return cmd.Start()
}

var errNotHere = &unsupportedError{"CPU affinity and the driver's clock can be checked on Linux only"}

func allowedCPUs() ([]int, error) { return nil, errNotHere }

func monotonicNS() (int64, error) { return 0, errNotHere }
