// Package sandbox runs drivers in a private network: a Runtime opens an Env per run, an Env starts processes and answers for its link.
package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"transportbench/pipeline/host"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

// Runtime is where drivers run: local namespaces or containers.
type Runtime interface {
	// Name is local, docker or vm.
	Name() string
	// Probe reports what this machine can do, without changing it.
	Probe(ctx context.Context) (Probe, error)
	// Open makes a private network with the link applied and read back.
	Open(ctx context.Context, spec EnvSpec) (Env, error)
	// Close removes whatever the runtime itself holds.
	Close() error
}

// Probe is the answer to "what works here".
type Probe struct {
	Namespaces string            `json:"namespaces"` // ok, or what is missing in plain words
	Fix        string            `json:"fix,omitempty"`
	Links      []link.Capability `json:"links"`
	NoFileHard uint64            `json:"nofile_hard"`
	CPUs       []int             `json:"cpus"`

	Topology    []CPU             `json:"topology,omitempty"` // of those CPUs
	Environment *host.Environment `json:"-"`                  // of the machine that measures, where bench may run on another
	Engine      *Engine           `json:"engine,omitempty"`   // of containers
}

// Engine says which container engine answered.
type Engine struct {
	Name          string   `json:"name"` // Docker Engine, Podman Engine, as the engine calls it
	Version       string   `json:"version"`
	API           string   `json:"api"`
	OS            string   `json:"os"`
	Kernel        string   `json:"kernel"`
	StorageDriver string   `json:"storage_driver"`
	CgroupDriver  string   `json:"cgroup_driver"`
	CgroupVersion string   `json:"cgroup_version"`
	Runtime       string   `json:"runtime"` // that starts containers, such as runc
	Security      []string `json:"security,omitempty"`
}

// EnvSpec describes one private network.
type EnvSpec struct {
	RunID string          `json:"run_id"`
	Link  matrix.LinkSpec `json:"link"`
	Seed  string          `json:"seed"` // hex, 32 bytes
	Port  int             `json:"port"` // the server's port: tells the directions apart
}

// Env is a private network with a resident holder. Everything in it ends with Close.
type Env interface {
	Link() link.State
	Counters(ctx context.Context) (link.Counters, error)
	// Host returns the environment capture and the per-run disturbance counters as seen from inside (pipeline/host JSON).
	Host(ctx context.Context) (json.RawMessage, error)
	Start(ctx context.Context, p ProcSpec) (Process, error)
	Close() error
}

// ProcSpec is one driver under launch.
type ProcSpec struct {
	Name     string        // server or client
	Path     string        // driver binary on the host (local), or in the image
	Args     []string      // wire.Config.Args()
	CPUs     []int         // nil: unpinned
	Samples  string        // host path that receives the samples file, empty: none
	StopTERM time.Duration // TERM to KILL
}

// Process is a started driver.
type Process interface {
	Stdout() io.Reader // records; EOF after launch's exit record
	Stderr() io.Reader
	Stop() error // SIGTERM, then SIGKILL of the process group after ProcSpec.StopTERM
	Kill() error // SIGKILL of the process group
	Wait() error // returns when launch is gone and both streams are drained
}
