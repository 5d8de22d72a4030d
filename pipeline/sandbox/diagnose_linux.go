package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// diagnoseStart explains why namespaces could not be made.
func diagnoseStart(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSPC) ||
		errors.Is(err, unix.EUSERS) || errors.Is(err, unix.EINVAL) {
		return forbidden(os.DirFS("/"), err)
	}
	return err
}

// diagnoseSetup explains a holder that got its namespaces but no rights in them, as AppArmor leaves it.
func diagnoseSetup(err error) error {
	if err == nil || !strings.Contains(err.Error(), "mount namespace: ") {
		return err
	}
	return forbidden(os.DirFS("/"), err)
}

// forbidden names the switch that forbids user namespaces on the machine whose root is fsys. Order: what forbids them to
// everyone, then to users, then to this container.
func forbidden(fsys fs.FS, err error) *UnsupportedError {
	u := &UnsupportedError{Err: err}
	has := func(path, value string) bool { return readText(fsys, path) == value }
	switch {
	case has("proc/sys/user/max_user_namespaces", "0"):
		u.What = "user namespaces: switched off (user.max_user_namespaces is 0)"
		u.Fix = "have an administrator set it above 0, or use --runtime docker"
	case has("proc/sys/user/max_net_namespaces", "0"):
		u.What = "network namespaces: switched off (user.max_net_namespaces is 0)"
		u.Fix = "have an administrator set it above 0, or use --runtime docker"
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EUSERS):
		u.What = "namespaces: the limit of this user is used up (user.max_user_namespaces, user.max_net_namespaces)"
		u.Fix = "end what holds them (lsns lists it), or use --runtime docker"
	case has("proc/sys/kernel/unprivileged_userns_clone", "0"):
		u.What = "user namespaces: only root may make them (kernel.unprivileged_userns_clone is 0)"
		u.Fix = "run as root or use --runtime docker"
	case inContainer(fsys):
		u.What = "namespaces: forbidden by the container that bench runs in"
		u.Fix = "start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or run bench on the host with --runtime docker"
	case errors.Is(err, unix.EPERM) && strings.Contains(readText(fsys, "proc/self/status"), "Seccomp:\t2"):
		u.What = "namespaces: forbidden by a seccomp filter of the service or sandbox that bench runs in"
		u.Fix = "start bench outside of it (systemd: RestrictNamespaces=no), or use --runtime docker"
	case has("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"):
		u.What = "user namespaces: AppArmor gives no rights in them (kernel.apparmor_restrict_unprivileged_userns is 1)"
		u.Fix = "use --runtime docker, run as root, or install an AppArmor profile with `userns,` for the bench program"
	case errors.Is(err, unix.EINVAL):
		u.What = "namespaces: this kernel is built without user, network or PID namespaces"
		u.Fix = "use a kernel with CONFIG_USER_NS, CONFIG_NET_NS and CONFIG_PID_NS"
	default:
		u.What = "namespaces: forbidden by a security policy of this machine (" + err.Error() + ")"
		u.Fix = "run as root or use --runtime docker"
	}
	return u
}

func inContainer(fsys fs.FS) bool {
	for _, path := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := fs.Stat(fsys, path); err == nil {
			return true
		}
	}
	return false
}
