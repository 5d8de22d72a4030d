package artifacts

// VM is the virtual machine that an artifact was measured in.
type VM struct {
	Kernel          string `json:"kernel"`         // uname -r
	KernelPackage   string `json:"kernel_package"` // name and version, or file: given by the user
	KernelSHA256    string `json:"kernel_sha256"`
	KernelPinned    bool   `json:"kernel_pinned"`
	InitramfsSHA256 string `json:"initramfs_sha256"` // programs and modules of the machine, not its job
	Accelerator     string `json:"accelerator"`      // kvm, or tcg: software emulation
	QEMU            string `json:"qemu"`             // version line
	CPUs            int    `json:"cpus"`
	MemoryMiB       int    `json:"memory_mib"`
	FunctionalOnly  bool   `json:"functional_only"` // measured under software emulation: says that things work, never how fast
}

// AcceleratorKVM is the one accelerator whose numbers are measurements.
const AcceleratorKVM = "kvm"

// ConsoleLog is what the kernel of the virtual machine said.
const ConsoleLog = LogsDir + "/console.log"

// FunctionalOnly reports whether the numbers of an artifact are no measurements, because software emulated the processor. Compare and
// publish refuse such an artifact. The accelerator decides, whatever the flag says.
func (m Manifest) FunctionalOnly() bool {
	return m.VM != nil && (m.VM.FunctionalOnly || m.VM.Accelerator != AcceleratorKVM)
}
