package host

import (
	"bytes"
	"io"
	"io/fs"
	"strings"
)

// parseMemInfo reads /proc/meminfo and returns bytes by name.
func parseMemInfo(r io.Reader) map[string]Count {
	m := map[string]Count{}
	lines(r, func(line string) {
		key, value, ok := strings.Cut(line, ":")
		if n, isKB := strings.CutSuffix(strings.TrimSpace(value), " kB"); ok && isKB {
			m[key] = parseCount(n).times(1024)
		}
	})
	return m
}

// hypervisor names what the kernel runs on. Only x86 says "none" for certain: its CPUs carry a flag for guests.
func hypervisor(root fs.FS) string {
	if v := text(root, "sys/hypervisor/type"); v != Unknown {
		return v
	}
	flags := cpuFlags(open(root, "proc/cpuinfo"))
	product := text(root, "sys/class/dmi/id/product_name")
	vendor := text(root, "sys/class/dmi/id/sys_vendor")
	switch {
	case flags == "":
		return Unknown
	case !strings.Contains(flags+" ", " hypervisor "):
		return "none"
	case vendor != Unknown || product != Unknown:
		return strings.TrimSpace(strings.ReplaceAll(vendor+" "+product, Unknown, ""))
	}
	return "virtual machine of unknown kind"
}

func cpuFlags(r io.Reader) string {
	flags := ""
	lines(r, func(line string) {
		if key, value, ok := strings.Cut(line, ":"); ok && flags == "" && strings.TrimSpace(key) == "flags" {
			flags = " " + strings.TrimSpace(value)
		}
	})
	return flags
}

// container names the container this process sees itself in.
func container(root fs.FS) string {
	if exists(root, ".dockerenv") {
		return "docker"
	}
	if exists(root, "run/.containerenv") {
		return "podman"
	}
	if v := text(root, "run/systemd/container"); v != Unknown {
		return v
	}
	b, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return Unknown
	}
	for _, word := range []string{"docker", "kubepods", "libpod", "containerd", "lxc"} {
		if strings.Contains(string(b), word) {
			return word
		}
	}
	for _, group := range parseCgroup(bytes.NewReader(b)) {
		if group != "/" {
			return "none" // a container with a cgroup namespace sees itself at the top
		}
	}
	return Unknown
}
