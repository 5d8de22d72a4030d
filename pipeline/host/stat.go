package host

import (
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// tickNS is one unit of /proc/stat in ns: USER_HZ is 100 on every system that Go runs on (proc_stat(5)).
const tickNS = 10_000_000

// CPUTimes is where the time of one CPU went, in ns since boot.
type CPUTimes struct {
	ID      int   `json:"id"`
	UserNS  Count `json:"user_ns"` // nice included
	SysNS   Count `json:"system_ns"`
	IdleNS  Count `json:"idle_ns"` // waiting for a disk included
	IRQNS   Count `json:"irq_ns"`
	SoftNS  Count `json:"softirq_ns"`
	StealNS Count `json:"steal_ns"` // taken by the hypervisor for others
}

func (c CPUTimes) sub(e CPUTimes) CPUTimes {
	return CPUTimes{
		ID: c.ID, UserNS: c.UserNS.sub(e.UserNS), SysNS: c.SysNS.sub(e.SysNS), IdleNS: c.IdleNS.sub(e.IdleNS),
		IRQNS: c.IRQNS.sub(e.IRQNS), SoftNS: c.SoftNS.sub(e.SoftNS), StealNS: c.StealNS.sub(e.StealNS),
	}
}

type stat struct {
	cpus                        []CPUTimes
	switches, forks, interrupts Count
}

// parseStat reads /proc/stat. A CPU line that is short or malformed leaves its missing columns unknown.
func parseStat(r io.Reader) stat {
	var s stat
	lines(r, func(line string) {
		f := strings.Fields(line)
		if len(f) < 2 {
			return
		}
		switch f[0] {
		case "ctxt":
			s.switches = parseCount(f[1])
		case "processes":
			s.forks = parseCount(f[1])
		case "intr":
			s.interrupts = parseCount(f[1])
		}
		digits, isCPU := strings.CutPrefix(f[0], "cpu")
		if id, err := strconv.ParseUint(digits, 10, 16); isCPU && err == nil {
			s.cpus = append(s.cpus, cpuTimes(int(id), f[1:]))
		}
	})
	return s
}

// cpuTimes reads the columns user, nice, system, idle, iowait, irq, softirq and steal.
func cpuTimes(id int, columns []string) CPUTimes {
	at := func(i int) Count {
		if i >= len(columns) {
			return Count{}
		}
		return parseCount(columns[i]).times(tickNS)
	}
	return CPUTimes{
		ID: id, UserNS: at(0).plus(at(1)), SysNS: at(2), IdleNS: at(3).plus(at(4)),
		IRQNS: at(5), SoftNS: at(6), StealNS: at(7),
	}
}

// parseSoftIRQs reads /proc/softirqs: counts by kind and CPU.
func parseSoftIRQs(r io.Reader) map[string][]Count {
	m := map[string][]Count{}
	lines(r, func(line string) {
		kind, rest, ok := strings.Cut(line, ":")
		if !ok {
			return // the headings
		}
		var row []Count
		for _, f := range strings.Fields(rest) {
			row = append(row, parseCount(f))
		}
		if kind = strings.TrimSpace(kind); kind != "" && len(row) > 0 {
			m[kind] = row
		}
	})
	return m
}

// load1 is the first number of /proc/loadavg.
func load1(root fs.FS) string {
	first, _, _ := strings.Cut(text(root, "proc/loadavg"), " ")
	return first
}

// frequencies are the current clock rates: of cpufreq, else of /proc/cpuinfo, where a guest shows the nominal one.
func frequencies(root fs.FS, cpus []CPUTimes) []Count {
	out := make([]Count, len(cpus))
	var missing bool
	for i, c := range cpus {
		out[i] = number(root, cpuDir+"/cpu"+strconv.Itoa(c.ID)+"/cpufreq/scaling_cur_freq")
		missing = missing || !out[i].known
	}
	if !missing {
		return out
	}
	var mhz []Count
	lines(open(root, "proc/cpuinfo"), func(line string) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) != "cpu MHz" {
			return
		}
		if f, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && f >= 0 && f < 1e6 {
			mhz = append(mhz, Known(int64(f*1000)))
		}
	})
	if len(mhz) == len(out) {
		return mhz
	}
	return out
}
