package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

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
