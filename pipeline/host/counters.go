package host

import (
	"io/fs"
	"slices"
	"time"
)

// Counters are running totals of a machine at one moment. Sub turns two of them into what happened in between.
type Counters struct {
	MonoNS   Count               `json:"mono_ns"` // since an arbitrary moment; after Sub: the time in between
	CPU      []CPUTimes          `json:"cpu"`     // by CPU
	Switches Count               `json:"context_switches"`
	Forks    Count               `json:"forks"`
	IRQs     Count               `json:"interrupts"`
	SoftIRQ  map[string][]Count  `json:"softirqs"` // by kind, then by CPU in the order of CPU
	Pressure map[string]Pressure `json:"pressure"` // machine: cpu, memory, io
	Group    map[string]Pressure `json:"cgroup_pressure"`
	Throttle Throttle            `json:"throttle"`
	FreqKHz  []Count             `json:"frequency_khz"` // by CPU, at the later moment: not a total
	Load1    string              `json:"load1"`         // at the later moment
	Procs    []Proc              `json:"processes"`
}

// Throttle counts what slowed CPUs down on purpose.
type Throttle struct {
	Periods    Count `json:"cgroup_periods"` // enforcement periods in which the group was throttled
	CgroupNS   Count `json:"cgroup_ns"`
	CoreHot    Count `json:"thermal_core"` // events, all CPUs
	PackageHot Count `json:"thermal_package"`
}

// Read takes the totals. mono is a monotonic clock reading, taken by the caller; pids are the drivers that run now.
func Read(root fs.FS, mono time.Duration, pids []int) Counters {
	st := parseStat(open(root, "proc/stat"))
	c := Counters{
		MonoNS: Known(int64(mono)), CPU: st.cpus, Switches: st.switches, Forks: st.forks, IRQs: st.interrupts,
		SoftIRQ: parseSoftIRQs(open(root, "proc/softirqs")), Pressure: map[string]Pressure{}, Group: map[string]Pressure{},
		Throttle: readThrottle(root), FreqKHz: frequencies(root, st.cpus), Load1: load1(root), Procs: ReadProcs(root, pids),
	}
	paths := parseCgroup(open(root, "proc/self/cgroup"))
	for _, kind := range []string{"cpu", "memory", "io"} {
		c.Pressure[kind] = parsePressure(open(root, "proc/pressure/"+kind))
		c.Group[kind] = parsePressure(open(root, groupFile(root, paths, kind+".pressure")))
	}
	return c
}

// groupFile finds a file of this process's v2 group; inside a container the group is the mount's top.
func groupFile(root fs.FS, paths cgroupPaths, name string) string {
	own, ok := paths[""]
	if !ok {
		return "none"
	}
	for _, dir := range []string{cgroupRoot + own, cgroupRoot} {
		if exists(root, dir+"/"+name) {
			return dir + "/" + name
		}
	}
	return "none"
}

// Sub returns what happened since earlier. Frequencies and load stay those of the later moment, and processes that were
// not there before count from their start.
func (c Counters) Sub(earlier Counters) Counters {
	d := c
	d.MonoNS = c.MonoNS.sub(earlier.MonoNS)
	d.Switches, d.Forks = c.Switches.sub(earlier.Switches), c.Forks.sub(earlier.Forks)
	d.IRQs = c.IRQs.sub(earlier.IRQs)
	d.CPU = subCPUs(c.CPU, earlier.CPU)
	d.SoftIRQ = make(map[string][]Count, len(c.SoftIRQ))
	for kind, now := range c.SoftIRQ {
		d.SoftIRQ[kind] = subCounts(now, earlier.SoftIRQ[kind])
	}
	d.Pressure, d.Group = subPressure(c.Pressure, earlier.Pressure), subPressure(c.Group, earlier.Group)
	d.Throttle = c.Throttle.sub(earlier.Throttle)
	d.Procs = subProcs(c.Procs, earlier.Procs)
	return d
}

func (t Throttle) sub(e Throttle) Throttle {
	return Throttle{
		Periods: t.Periods.sub(e.Periods), CgroupNS: t.CgroupNS.sub(e.CgroupNS),
		CoreHot: t.CoreHot.sub(e.CoreHot), PackageHot: t.PackageHot.sub(e.PackageHot),
	}
}

// subCounts is unknown throughout where a CPU came or went in between.
func subCounts(now, before []Count) []Count {
	out := make([]Count, len(now))
	if len(now) != len(before) {
		return out
	}
	for i := range now {
		out[i] = now[i].sub(before[i])
	}
	return out
}

func subCPUs(now, before []CPUTimes) []CPUTimes {
	out := make([]CPUTimes, len(now))
	for i, c := range now {
		j := slices.IndexFunc(before, func(b CPUTimes) bool { return b.ID == c.ID })
		if j < 0 {
			out[i] = CPUTimes{ID: c.ID}
			continue
		}
		out[i] = c.sub(before[j])
	}
	return out
}
