package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// killDriver sends SIGKILL to the driver's process group and leaves launch alive, whose exit record still tells the peak
// RSS of a driver that hung. Without a driver launch itself goes.
func killDriver(launch int) error {
	kids, err := childrenOf(launch)
	if err != nil || len(kids) == 0 {
		return ignoreGone(unix.Kill(launch, unix.SIGKILL))
	}
	for _, pid := range kids {
		err = errors.Join(err, ignoreGone(unix.Kill(-pid, unix.SIGKILL)), ignoreGone(unix.Kill(pid, unix.SIGKILL)))
	}
	return err
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// childrenOf lists the pids whose parent is pid. The private /proc holds a handful of entries, so a scan is cheap.
func childrenOf(pid int) ([]int, error) {
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

// driverThreads reads every thread of the children of launch.
func driverThreads(launch int) ([]Thread, error) {
	kids, err := childrenOf(launch)
	if err != nil {
		return nil, fmt.Errorf("threads: %w", err)
	}
	if len(kids) == 0 {
		return nil, errors.New("threads: the driver has ended")
	}
	var all []Thread
	for _, pid := range kids {
		base := "/proc/" + strconv.Itoa(pid) + "/task"
		tasks, err := os.ReadDir(base)
		if err != nil {
			continue // ended between the two reads
		}
		for _, t := range tasks {
			if th, ok := readThread(base + "/" + t.Name()); ok {
				all = append(all, th)
			}
		}
	}
	return all, nil
}

func readThread(dir string) (Thread, bool) {
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return Thread{}, false
	}
	th, err := parseThread(string(status))
	if err != nil {
		return Thread{}, false
	}
	th.Migrated = -1
	if sched, err := os.ReadFile(dir + "/sched"); err == nil {
		th.Migrated = migrations(string(sched))
	}
	return th, true
}

// parseThread reads the status file of a thread (proc_pid_status(5)).
func parseThread(status string) (Thread, error) {
	var t Thread
	var errs error
	for sc := bufio.NewScanner(strings.NewReader(status)); sc.Scan(); {
		key, value, _ := strings.Cut(sc.Text(), ":")
		value = strings.TrimSpace(value)
		var err error
		switch key {
		case "Name":
			t.Name = value
		case "Pid":
			t.TID, err = strconv.Atoi(value)
		case "Cpus_allowed_list":
			t.CPUs, err = ParseCPUList(value)
		case "voluntary_ctxt_switches":
			t.Vol, err = strconv.ParseInt(value, 10, 64)
		case "nonvoluntary_ctxt_switches":
			t.Invol, err = strconv.ParseInt(value, 10, 64)
		}
		errs = errors.Join(errs, err)
	}
	if errs == nil && t.TID == 0 {
		errs = errors.New("no Pid line")
	}
	if errs != nil {
		return Thread{}, fmt.Errorf("thread status: %w", errs)
	}
	return t, nil
}

// migrations reads se.nr_migrations of /proc/<pid>/sched, -1 where the kernel was built without it.
func migrations(sched string) int64 {
	for sc := bufio.NewScanner(strings.NewReader(sched)); sc.Scan(); {
		key, value, _ := strings.Cut(sc.Text(), ":")
		if strings.TrimSpace(key) != "se.nr_migrations" {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
			return n
		}
	}
	return -1
}
