package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// killDriver sends SIGKILL to the driver's process group and leaves launch alive, whose exit record still tells the peak
// RSS of a driver that hung. Without a driver launch itself goes.
func killDriver(launch int) error {
	kids, err := childrenOf(launch)
	if errors.Is(err, errForeignProc) {
		kids, err = sessionOf(launch), nil
	}
	return killAll(launch, kids, err)
}

// killAll kills the groups of the drivers under launch, or launch itself where there is none.
func killAll(launch int, kids []int, err error) error {
	if err != nil || len(kids) == 0 {
		return ignoreGone(unix.Kill(launch, unix.SIGKILL))
	}
	for _, pid := range kids {
		err = errors.Join(err, ignoreGone(unix.Kill(-pid, unix.SIGKILL)), ignoreGone(unix.Kill(pid, unix.SIGKILL)))
	}
	return err
}

// forkDistance is how far above launch's pid its driver's may be: launch forks at once, so only threads that others start in
// that moment come between.
const forkDistance = 1024

// sessionOf finds the driver without /proc: launch leads a session, and its driver is in it.
func sessionOf(launch int) []int {
	var pids []int
	for pid := launch + 1; pid <= launch+forkDistance; pid++ {
		if sid, err := unix.Getsid(pid); err == nil && sid == launch {
			pids = append(pids, pid)
		}
	}
	return pids
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
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
