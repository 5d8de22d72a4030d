package host

import (
	"io"
	"io/fs"
	"strings"
)

func readThrottle(root fs.FS) Throttle {
	t := Throttle{
		CoreHot:    sumFiles(root, cpuDir+"/cpu[0-9]*/thermal_throttle/core_throttle_count"),
		PackageHot: maxFiles(root, cpuDir+"/cpu[0-9]*/thermal_throttle/package_throttle_count"),
	}
	paths := parseCgroup(open(root, "proc/self/cgroup"))
	file := groupFile(root, paths, "cpu.stat")
	for _, dir := range ancestorsV1(root, paths, "cpu") {
		if exists(root, dir+"/cpu.stat") {
			file = dir + "/cpu.stat"
			break
		}
	}
	t.Periods, t.CgroupNS = parseCPUStat(open(root, file))
	return t
}

// parseCPUStat reads a group's cpu.stat: throttled_usec in v2, throttled_time (ns) in v1.
func parseCPUStat(r io.Reader) (periods, ns Count) {
	lines(r, func(line string) {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "nr_throttled":
			periods = parseCount(value)
		case "throttled_usec":
			ns = parseCount(value).times(1000)
		case "throttled_time":
			ns = parseCount(value)
		}
	})
	return periods, ns
}

// sumFiles adds up one file of every CPU; unknown where no CPU has it.
func sumFiles(root fs.FS, pattern string) Count {
	files, _ := fs.Glob(root, pattern)
	if len(files) == 0 {
		return Count{}
	}
	sum := Known(0)
	for _, f := range files {
		sum = sum.plus(number(root, f))
	}
	return sum
}

// maxFiles is for counters that all CPUs of a package share. With several packages it is that of the hottest.
func maxFiles(root fs.FS, pattern string) Count {
	files, _ := fs.Glob(root, pattern)
	most := Count{}
	for _, f := range files {
		if n := number(root, f); n.known && (!most.known || n.n > most.n) {
			most = n
		}
	}
	return most
}
