package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Labels of every container and volume that bench makes. A stray is recognised by them alone.
const (
	labelRole    = "transportbench.role"    // holder, server, client, ...
	labelRun     = "transportbench.run"     // run id
	labelSession = "transportbench.session" // one runtime of one bench
	labelMachine = "transportbench.machine" // hash of the machine bench runs on; may be another one than the engine's
	labelBoot    = "transportbench.boot"    // boot id of that machine
	labelPIDs    = "transportbench.pidns"   // PID namespace in which the pid is meant
	labelPID     = "transportbench.pid"
	labelStart   = "transportbench.start" // start of that process, in clock ticks after boot: tells a pid that was given out again
)

// owner is a bench process as its containers name it.
type owner struct {
	machine, boot, pids, pid, start string
}

// self describes the calling process.
func self(root fs.FS) (owner, error) {
	o := owner{
		machine: machineHash(root), boot: readText(root, "proc/sys/kernel/random/boot_id"), pids: pidNamespace(), pid: strconv.Itoa(os.Getpid()),
	}
	var alive bool
	if o.start, alive = startTicks(root, o.pid); !alive || o.boot == "" {
		return o, errors.New("owner of containers: /proc does not tell this process's start and boot id")
	}
	return o, nil
}

// machineHash names a machine without revealing its id.
func machineHash(root fs.FS) string {
	id := readText(root, "etc/machine-id")
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("transportbench " + id))
	return hex.EncodeToString(sum[:8])
}

func pidNamespace() string {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return ns
}

// startTicks is field 22 of /proc/<pid>/stat (proc_pid_stat(5)). A zombie counts as dead: it owns nothing any more.
func startTicks(root fs.FS, pid string) (ticks string, alive bool) {
	if _, err := strconv.ParseUint(pid, 10, 31); err != nil {
		return "", false
	}
	_, rest, ok := cutLast(readText(root, "proc/"+pid+"/stat"), ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[19], true
}

func (o owner) labels(session, role, run string) map[string]string {
	return map[string]string{
		labelRole: role, labelRun: run, labelSession: session, labelMachine: o.machine, labelBoot: o.boot, labelPIDs: o.pids,
		labelPID: o.pid, labelStart: o.start,
	}
}

func ownerOf(labels map[string]string) owner {
	return owner{labels[labelMachine], labels[labelBoot], labels[labelPIDs], labels[labelPID], labels[labelStart]}
}

// Whether the owner of a container lives.
type liveness int

const (
	alive liveness = iota
	dead
	foreign // bench on another machine or in another container uses the same engine: nobody here can tell
)

// judge says whether o lives, seen from me.
func (me owner) judge(root fs.FS, o owner) liveness {
	switch {
	case o.boot != me.boot && (o.machine != me.machine || me.machine == ""):
		return foreign
	case o.boot != me.boot:
		return dead // of an earlier boot of this machine
	case o.pids != me.pids:
		return foreign
	}
	if start, lives := startTicks(root, o.pid); lives && start == o.start {
		return alive
	}
	return dead
}

func (o owner) String() string {
	return fmt.Sprintf("process %s of boot %.8s", o.pid, o.boot)
}
