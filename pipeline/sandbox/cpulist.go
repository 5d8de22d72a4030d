package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPU bounds CPU numbers, the largest that a kernel is built for today (CONFIG_NR_CPUS).
const maxCPU = 8191

// ParseCPUList reads a list as the kernel prints it, such as 0,2-3, and returns the CPUs ascending.
func ParseCPUList(s string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(strings.TrimSpace(s), ",") {
		if part == "" {
			continue
		}
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || a > b || b > maxCPU {
			return nil, fmt.Errorf("CPU list %q: want numbers and ranges such as 0,2-3", s)
		}
		for n := a; n <= b; n++ {
			cpus = append(cpus, int(n))
		}
		if len(cpus) > maxCPU+1 {
			return nil, fmt.Errorf("CPU list %.40q: more than %d CPUs", s, maxCPU+1)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

// FormatCPUList is the inverse of ParseCPUList, as launch takes it.
func FormatCPUList(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); i++ {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			fmt.Fprintf(&b, "-%d", cpus[j])
		}
		i = j
	}
	return b.String()
}
