package link

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// surroundings are the facts that turn a kernel refusal into words a reader can act on.
type surroundings struct {
	release     string // uname -r
	distro      string // ID of os-release
	container   bool
	netAdmin    bool // CAP_NET_ADMIN in the current user namespace
	inUserNS    bool // not the first user namespace
	appArmorBan bool // kernel.apparmor_restrict_unprivileged_userns is on
	module      moduleState
}

// diagnose names what is missing. Errors that say nothing about the environment pass through.
func diagnose(what string, err error, s surroundings) error {
	var known *UnsupportedError
	var code syscall.Errno
	if errors.As(err, &known) || !errors.As(err, &code) {
		return err
	}
	switch {
	case code == syscall.EPERM || code == syscall.EACCES:
		return permission(s)
	case isMissing(code) && features[what].module != "":
		return missing(what, s)
	}
	return fmt.Errorf("link %s not set up on kernel %s: %w", what, s.release, err)
}

// isMissing are the answers of a kernel that does not know the qdisc, the expression or the netlink family.
func isMissing(code syscall.Errno) bool {
	return slices.Contains([]syscall.Errno{
		syscall.ENOENT, syscall.EOPNOTSUPP, syscall.EPROTONOSUPPORT, syscall.EAFNOSUPPORT, syscall.ENODEV, syscall.EINVAL,
	}, code)
}

func permission(s surroundings) *UnsupportedError {
	switch {
	case s.netAdmin:
		return &UnsupportedError{
			Missing: "no permission: a security policy refuses network changes although CAP_NET_ADMIN is held",
			Fix:     "allow netlink in the seccomp or security module profile of this environment",
		}
	case s.appArmorBan && s.inUserNS:
		return &UnsupportedError{
			Missing: "no permission: AppArmor takes the capabilities of unprivileged user namespaces away (kernel.apparmor_restrict_unprivileged_userns is 1)",
			Fix:     "use --runtime docker, run as root, or give bench an AppArmor profile with the userns rule",
		}
	case s.container:
		return &UnsupportedError{
			Missing: "no permission: this container lacks the NET_ADMIN capability",
			Fix:     "start the container with --cap-add NET_ADMIN",
		}
	}
	return &UnsupportedError{
		Missing: "no permission: CAP_NET_ADMIN is missing in this network namespace",
		Fix:     "run as root, or use the local runtime, which makes its own namespaces",
	}
}

func missing(what string, s surroundings) *UnsupportedError {
	f := features[what]
	u := &UnsupportedError{Fix: remedy(f, s)}
	switch s.module {
	case moduleNotBuilt:
		u.Missing = fmt.Sprintf("not built: kernel %s is configured without %s (%s)", s.release, f.module, f.option)
	case modulePresent:
		u.Missing = fmt.Sprintf("module not loaded: %s is installed for kernel %s but not loaded", f.module, s.release)
	case moduleNotInstalled:
		u.Missing = fmt.Sprintf("module not installed: kernel %s can load %s, but its file is not on this system", s.release, f.module)
	case moduleBuiltIn:
		u.Missing = fmt.Sprintf("refused: %s is built into kernel %s but does not take this request", f.module, s.release)
	default:
		u.Missing = fmt.Sprintf("not available: kernel %s does not know %s, and no file here tells whether it was built", s.release, f.module)
	}
	return u
}

// remedy is the shortest way to the feature on this distribution.
func remedy(f feature, s surroundings) string {
	load := "sudo modprobe " + f.module
	switch {
	case strings.Contains(strings.ToLower(s.release), "microsoft"):
		return "build a WSL2 kernel with " + f.option + " and name it in .wslconfig"
	case strings.Contains(s.release, "linuxkit"):
		return "the virtual machine of Docker Desktop has no such module: use a Linux machine or a virtual machine of your own"
	case s.module == modulePresent:
		return onHost(load, s)
	case s.module == moduleNotBuilt:
		return onHost("boot a kernel with "+f.option+"=m, such as "+stockKernel(s), s)
	case s.module == moduleBuiltIn:
		return "use a newer kernel"
	}
	return onHost(extraModules(s)+", then "+load, s)
}

func onHost(fix string, s surroundings) string {
	if s.container {
		return "on the host: " + fix
	}
	return fix
}

func stockKernel(s surroundings) string {
	switch s.distro {
	case "debian":
		return "the stock one (sudo apt install linux-image-amd64 or linux-image-arm64), or measure with bench run --runtime vm"
	case "ubuntu":
		return "linux-image-generic with linux-modules-extra"
	case "fedora", "rhel", "centos", "rocky", "almalinux":
		return "the stock one with kernel-modules-extra"
	}
	return "the stock one of a large distribution"
}

func extraModules(s surroundings) string {
	switch s.distro {
	case "debian":
		return "sudo apt install linux-image-amd64 or linux-image-arm64 and reboot"
	case "ubuntu":
		return "sudo apt install linux-modules-extra-" + s.release
	case "fedora", "rhel", "centos", "rocky", "almalinux":
		return "sudo dnf install kernel-modules-extra-" + s.release
	}
	return "install the extra kernel modules of your distribution for " + s.release
}
