package vm

import "time"

// Job is what the guest runs. All paths are the guest's.
type Job struct {
	Args    []string          `json:"args"`              // command and arguments
	Env     []string          `json:"env,omitempty"`     // nothing else is in its environment
	Collect string            `json:"collect,omitempty"` // folder that comes back; empty: none
	Files   map[string]string `json:"-"`                 // guest path to the host file that is put there
	Data    map[string][]byte `json:"-"`                 // guest path to content
	NoLoad  []string          `json:"-"`                 // modules that are installed in the guest but not loaded
	Leave   []string          `json:"-"`                 // modules that the guest does not have at all
}

// boot is what the guest's init finds in jobFile.
type boot struct {
	Job
	Modules []string  `json:"modules"` // files to load, in order
	Now     time.Time `json:"now"`     // the host's clock: the guest's may start in 1970
}

// Places in the guest.
const (
	jobFile   = "/vm/job.json"
	FactsFile = "/vm/facts.json" // Facts, for a bench that runs inside
	BenchFile = "/init"          // the program that started the machine
)

// Facts describe the machine that a job runs in; they stand in the artifact.
type Facts struct {
	Release         string `json:"kernel"`         // uname -r
	Package         string `json:"kernel_package"` // name and version, or "file": given by the user
	KernelSHA256    string `json:"kernel_sha256"`
	Pinned          bool   `json:"kernel_pinned"`
	InitramfsSHA256 string `json:"initramfs_sha256"` // of the base archive: programs and modules, not the job
	Accelerator     string `json:"accelerator"`      // kvm, or tcg: software emulation
	QEMU            string `json:"qemu"`             // version line
	CPUs            int    `json:"cpus"`
	MemoryMiB       int    `json:"memory_mib"`
}

// hello is the guest's first word.
type hello struct {
	Release  string `json:"release"`
	UptimeNS int64  `json:"uptime_ns"` // since the kernel started, by the kernel's clock
}

// exit is how the command ended, or why it never began.
type exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	Error  string `json:"error,omitempty"` // of the machine, not of the command
}
