package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"runtime"
)

// Environment is everything about a machine that a reader needs to judge a number measured on it.
type Environment struct {
	Label       string            `json:"label"`               // given, or a short hash of the machine's facts
	HostName    string            `json:"host_name,omitempty"` // only when asked for
	OS          string            `json:"os"`
	Arch        string            `json:"arch"`
	Kernel      string            `json:"kernel"`
	KernelBuild string            `json:"kernel_build"`
	CPU         CPU               `json:"cpu"`
	MemoryBytes Count             `json:"memory_bytes"`
	SwapBytes   Count             `json:"swap_bytes"`
	HugePages   string            `json:"transparent_hugepages"`
	Clocksource string            `json:"clocksource"`
	Hypervisor  string            `json:"hypervisor"` // none, a name, or unknown
	Container   string            `json:"container"`  // none, a name, or unknown
	Cgroup      Cgroup            `json:"cgroup"`
	PSI         string            `json:"psi"` // available, or unknown
	Sysctls     map[string]string `json:"sysctls"`
	Toolchains  map[string]string `json:"toolchains"` // go, gcc: as the caller found them
	Binaries    map[string]string `json:"binaries"`   // name to SHA-256, hex
}

// Options are what a capture cannot find by itself.
type Options struct {
	Label        string // empty: a hash
	WithHostName bool
	Toolchains   map[string]string // go, gcc
	Binaries     map[string]string
}

// toolchainNames always appear in a capture.
var toolchainNames = [...]string{"go", "gcc"}

// Capture reads the environment from the file system whose top is root (os.DirFS("/")).
func Capture(root fs.FS, o Options) Environment {
	mem := parseMemInfo(open(root, "proc/meminfo"))
	e := Environment{
		Label: o.Label, OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel: text(root, "proc/sys/kernel/osrelease"), KernelBuild: text(root, "proc/sys/kernel/version"),
		CPU: readCPU(root), MemoryBytes: mem["MemTotal"], SwapBytes: mem["SwapTotal"],
		HugePages:   text(root, "sys/kernel/mm/transparent_hugepage/enabled"),
		Clocksource: text(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"),
		Hypervisor:  hypervisor(root), Container: container(root), Cgroup: readCgroup(root), PSI: Unknown,
		Sysctls: Sysctls(root), Toolchains: map[string]string{}, Binaries: map[string]string{},
	}
	if parsePressure(open(root, "proc/pressure/cpu")).SomeUS.known { // with psi=0 the file is there and cannot be read
		e.PSI = "available"
	}
	if o.WithHostName {
		e.HostName = text(root, "proc/sys/kernel/hostname")
	}
	for _, name := range toolchainNames {
		e.Toolchains[name] = orUnknown(o.Toolchains[name])
	}
	for name, digest := range o.Binaries {
		e.Binaries[name] = orUnknown(digest)
	}
	if e.Label == "" {
		e.Label = e.hash()
	}
	return e
}

// labelBytes is the length of a default label: 5 bytes tell a few thousand machines apart and identify none.
const labelBytes = 5

// hash is a label from facts that stay over a reboot and name nobody: no host name, serial number or address.
func (e Environment) hash() string {
	facts, err := json.Marshal([]string{
		e.OS, e.Arch, e.CPU.Vendor, e.CPU.Model, e.CPU.Online.String(), e.CPU.Cores.String(), e.MemoryBytes.String(), e.Hypervisor,
	})
	if err != nil {
		return Unknown
	}
	sum := sha256.Sum256(facts)
	return "host-" + hex.EncodeToString(sum[:labelBytes])
}

// Digest returns the SHA-256 of a binary, hex.
func Digest(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
