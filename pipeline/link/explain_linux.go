package link

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// explain puts a kernel refusal into plain words. what is a backend or "loopback".
func explain(what string, err error) error { return diagnose(what, err, look(what)) }

// look gathers the facts of this environment that matter for one backend. Absent files are facts not known.
func look(what string) surroundings {
	s := surroundings{release: release()}
	root := os.DirFS("/")
	if f, ok := features[what]; ok {
		s.module = findModule(root, s.release, f)
	}
	osRelease, _ := os.ReadFile("/etc/os-release")
	s.distro = field(osRelease, "ID=")
	status, _ := os.ReadFile("/proc/thread-self/status")
	s.netAdmin = hasNetAdmin(status)
	uidMap, _ := os.ReadFile("/proc/self/uid_map")
	s.inUserNS = len(uidMap) > 0 && strings.Join(strings.Fields(string(uidMap)), " ") != "0 0 4294967295"
	ban, _ := os.ReadFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
	s.appArmorBan = strings.TrimSpace(string(ban)) == "1"
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			s.container = true
		}
	}
	return s
}

func release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// field is the unquoted rest of the first line with the prefix.
func field(text []byte, prefix string) string {
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return ""
}

// hasNetAdmin reads the effective capabilities of /proc/<pid>/status.
func hasNetAdmin(status []byte) bool {
	bits, err := strconv.ParseUint(field(status, "CapEff:"), 16, 64)
	return err == nil && bits&(1<<unix.CAP_NET_ADMIN) != 0
}
