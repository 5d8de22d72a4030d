package sandbox

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ReadTopology describes the given CPUs from <sys>/devices/system/cpu, sys being the root of sysfs. Where the kernel does
// not tell, every CPU counts as a core of its own in package 0.
func ReadTopology(sys fs.FS, cpus []int) []CPU {
	out := make([]CPU, 0, len(cpus))
	for _, id := range cpus {
		dir := fmt.Sprintf("devices/system/cpu/cpu%d/topology/", id)
		c := CPU{ID: id, Core: id, Package: max(0, readInt(sys, dir+"physical_package_id", 0))}
		// The first sibling names a core better than core_id, which some machines repeat in every cluster.
		siblings, err := ParseCPUList(readText(sys, dir+"thread_siblings_list"))
		if err == nil && len(siblings) > 0 {
			c.Core = siblings[0]
		} else {
			c.Core = readInt(sys, dir+"core_id", id)
		}
		out = append(out, c)
	}
	return out
}

func readText(fsys fs.FS, path string) string {
	b, err := fs.ReadFile(fsys, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func readInt(fsys fs.FS, path string, absent int) int {
	n, err := strconv.Atoi(readText(fsys, path))
	if err != nil {
		return absent
	}
	return n
}
