package sandbox

import (
	"os"
	"strconv"
	"strings"
)

// errForeignProc: a container that masks parts of /proc refuses a fresh one, and pids in the old one are others.
var errForeignProc = &UnsupportedError{
	What: "threads of a driver: the container that bench runs in does not let a namespace mount its own /proc",
	Fix:  "start the container with --security-opt systempaths=unconfined",
}

// childrenOf lists the pids whose parent is pid. The private /proc holds a handful of entries, so a scan is cheap.
func childrenOf(pid int) ([]int, error) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != "1" {
		return nil, errForeignProc
	}
	return scanChildren(pid)
}

// scanChildren is childrenOf for a caller that knows /proc to be its own.
func scanChildren(pid int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var kids []int
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err == nil && parentPID(string(stat)) == pid {
			kids = append(kids, n)
		}
	}
	return kids, nil
}

// parentPID reads field 4 of /proc/<pid>/stat; the name before it may hold blanks and brackets (proc_pid_stat(5)).
func parentPID(stat string) int {
	_, rest, ok := cutLast(stat, ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 2 {
		return -1
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		return -1
	}
	return n
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
