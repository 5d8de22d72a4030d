package sandbox

import "fmt"

const (
	// nofileCap is what launch raises RLIMIT_NOFILE to where the hard limit allows (descriptors).
	nofileCap = 16384
	// nofileReserve are descriptors of a driver that are no connections: listeners, epoll, standard streams, files.
	nofileReserve = 64
)

// CheckNoFile returns an *UnsupportedError when a driver with that many connections would run out of descriptors.
// hard is the hard limit of RLIMIT_NOFILE where the drivers run (Probe.NoFileHard).
func CheckNoFile(connections int, hard uint64) error {
	need := uint64(max(connections, 0)) + nofileReserve
	limit := min(hard, nofileCap)
	if need <= limit {
		return nil
	}
	return &UnsupportedError{
		What: fmt.Sprintf("open files limit %d: %d connections need %d", limit, connections, need),
		Fix:  fmt.Sprintf("raise the hard limit (ulimit -Hn %d, or LimitNOFILE= of the service) or pass --max-connections %d", need, int64(limit)-nofileReserve),
	}
}
