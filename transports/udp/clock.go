//go:build linux

package udp

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock counts ns since it was made, on CLOCK_MONOTONIC without a system call.
type clock struct{ base time.Time }

func newClock() clock { return clock{base: time.Now()} }

func (c clock) now() int64 { return int64(time.Since(c.base)) }

// machineNS is CLOCK_MONOTONIC itself in ns, comparable between processes.
func machineNS() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
