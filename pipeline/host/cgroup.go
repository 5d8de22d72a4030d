package host

import (
	"io"
	"io/fs"
	"path"
	"strings"
)

// Cgroup is the control group of the calling process and the limits that it and its ancestors set.
type Cgroup struct {
	Version     string `json:"version"` // 1, 2, hybrid, none or unknown
	QuotaUS     Count  `json:"cpu_quota_us"`
	PeriodUS    Count  `json:"cpu_period_us"`
	CPULimit    string `json:"cpu_limit"`    // none, limited or unknown: a quota on the way up
	MemoryMax   Count  `json:"memory_max"`   // bytes, smallest on the way up; unknown with limit none
	MemoryLimit string `json:"memory_limit"` // none, limited or unknown
	Cpuset      string `json:"cpuset"`       // CPU list
}

const cgroupRoot = "sys/fs/cgroup"

// v1Unlimited is the value that cgroup v1 shows for no limit, page-aligned LONG_MAX; anything near it is none.
const v1Unlimited = int64(1) << 60

// cgroupPaths maps a v1 controller, or "" for v2, to the folder of this process below the hierarchy's mount.
type cgroupPaths map[string]string

// parseCgroup reads /proc/self/cgroup (cgroups(7)): id:controllers:path.
func parseCgroup(r io.Reader) cgroupPaths {
	p := cgroupPaths{}
	lines(r, func(line string) {
		f := strings.SplitN(line, ":", 3)
		if len(f) != 3 || !strings.HasPrefix(f[2], "/") {
			return
		}
		for _, controller := range strings.Split(f[1], ",") {
			p[controller] = path.Clean(f[2])
		}
	})
	return p
}

func readCgroup(root fs.FS) Cgroup {
	c := Cgroup{Version: Unknown, CPULimit: Unknown, MemoryLimit: Unknown, Cpuset: Unknown}
	if !exists(root, "proc/self/cgroup") {
		if exists(root, "proc/self/status") {
			c.Version = "none" // /proc is there, the kernel has no cgroups
		}
		return c
	}
	paths := parseCgroup(open(root, "proc/self/cgroup"))
	if exists(root, cgroupRoot+"/cgroup.controllers") {
		c.Version = "2"
		c.limitsV2(root, paths[""])
		return c
	}
	if len(paths) == 0 {
		return c
	}
	c.Version = "1"
	if _, both := paths[""]; both && len(paths) > 1 {
		c.Version = "hybrid"
	}
	c.limitsV1(root, paths)
	return c
}

// limitsV2 walks up: each ancestor's limit holds too.
func (c *Cgroup) limitsV2(root fs.FS, own string) {
	for _, dir := range ancestors(cgroupRoot, own) {
		if v := strings.Fields(text(root, dir+"/cpu.max")); len(v) == 2 {
			c.quota(parseCount(v[0]), parseCount(v[1]))
		}
		if v := text(root, dir+"/memory.max"); v != Unknown {
			c.memory(parseCount(v))
		}
		if v := text(root, dir+"/cpuset.cpus.effective"); v != Unknown && c.Cpuset == Unknown {
			c.Cpuset = v
		}
	}
}

func (c *Cgroup) limitsV1(root fs.FS, paths cgroupPaths) {
	for _, dir := range ancestorsV1(root, paths, "cpu") {
		if q := number(root, dir+"/cpu.cfs_quota_us"); q.known {
			if q.n < 0 {
				q = Count{} // -1: no quota
			}
			c.quota(q, number(root, dir+"/cpu.cfs_period_us"))
		}
	}
	for _, dir := range ancestorsV1(root, paths, "memory") {
		if m := number(root, dir+"/memory.limit_in_bytes"); m.known {
			if m.n >= v1Unlimited {
				m = Count{}
			}
			c.memory(m)
		}
	}
	for _, dir := range ancestorsV1(root, paths, "cpuset") {
		if v := text(root, dir+"/cpuset.effective_cpus"); v != Unknown && c.Cpuset == Unknown {
			c.Cpuset = v
		}
	}
}

// quota keeps the tightest share of a CPU; an unknown quota from an existing file means no limit at this level.
func (c *Cgroup) quota(quota, period Count) {
	if !quota.known || !period.known || period.n <= 0 {
		if c.CPULimit == Unknown {
			c.CPULimit = "none"
		}
		return
	}
	tighter := !c.QuotaUS.known || float64(quota.n)/float64(period.n) < float64(c.QuotaUS.n)/float64(c.PeriodUS.n)
	if tighter {
		c.QuotaUS, c.PeriodUS = quota, period
	}
	c.CPULimit = "limited"
}

// memory keeps the smallest limit in bytes.
func (c *Cgroup) memory(limit Count) {
	if !limit.known {
		if c.MemoryLimit == Unknown {
			c.MemoryLimit = "none"
		}
		return
	}
	if !c.MemoryMax.known || limit.n < c.MemoryMax.n {
		c.MemoryMax = limit
	}
	c.MemoryLimit = "limited"
}

// ancestors lists the folder of a group and of all above it, nearest first. In a container the path may name folders of the
// host that are not there; the mount's top then still counts.
func ancestors(mount, own string) []string {
	dirs := []string{}
	for p := path.Clean("/" + own); p != "/"; p = path.Dir(p) {
		dirs = append(dirs, mount+p)
	}
	return append(dirs, mount)
}

// ancestorsV1 finds a controller's mount, which may be named after several ("cpu,cpuacct").
func ancestorsV1(root fs.FS, paths cgroupPaths, controller string) []string {
	own, ok := paths[controller]
	if !ok {
		return nil
	}
	for _, name := range []string{controller, controller + ",cpuacct", "cpuacct," + controller} {
		if exists(root, cgroupRoot+"/"+name) {
			return ancestors(cgroupRoot+"/"+name, own)
		}
	}
	return nil
}
