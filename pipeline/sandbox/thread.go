package sandbox

import "context"

// Thread is one thread of a running driver, as its /proc/<pid>/task/<tid>/status says.
type Thread struct {
	TID      int    `json:"tid"` // in the namespace of the driver
	Name     string `json:"name"`
	CPUs     []int  `json:"cpus"` // allowed
	Vol      int64  `json:"voluntary_switches"`
	Invol    int64  `json:"involuntary_switches"`
	Migrated int64  `json:"migrations"` // -1: the kernel does not tell
}

// ThreadReader is a Process that can name its driver's threads while they run.
type ThreadReader interface {
	Threads(ctx context.Context) ([]Thread, error)
}
