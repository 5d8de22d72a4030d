package sandbox

import "fmt"

// Container is what the engine said of a driver's container: its limits after it was made, its end.
type Container struct {
	Image       string // the id it was started by
	Cpuset      string // CPU list; empty: every CPU of the engine
	MemoryBytes int64
	PIDs        int64
	NoFile      int64
	User        string
	ReadOnly    bool
	ExitCode    int
	OOMKilled   bool // its memory control group had an oom_kill event
}

// ContainerReader is a Process that ran in a container. Container is called after Wait.
type ContainerReader interface {
	Container() Container
}

// how says in words how a container ended that should not have.
func (c Container) how() string {
	text := fmt.Sprintf("exit code %d", c.ExitCode)
	if c.ExitCode == 128+9 {
		text += " (killed)"
	}
	if c.OOMKilled {
		text += fmt.Sprintf(", event oom_kill of its memory control group, limit %d MiB", c.MemoryBytes>>20)
	}
	return text
}
