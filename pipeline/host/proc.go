package host

import (
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Proc is one driver process that runs now, all its threads together.
type Proc struct {
	PID        int    `json:"pid"` // as the reader of /proc sees it
	Name       string `json:"name"`
	Voluntary  Count  `json:"voluntary_switches"`
	Involunt   Count  `json:"involuntary_switches"`
	Migrations Count  `json:"migrations"` // moves between CPUs; needs CONFIG_SCHED_DEBUG
}

// ReadProcs sums the threads of each process. One that has ended is left out: its launch record has the switches.
func ReadProcs(root fs.FS, pids []int) []Proc {
	procs := []Proc{}
	for _, pid := range pids {
		tasks, _ := fs.Glob(root, "proc/"+strconv.Itoa(pid)+"/task/[0-9]*")
		if len(tasks) == 0 {
			continue
		}
		p := Proc{PID: pid, Name: text(root, "proc/"+strconv.Itoa(pid)+"/comm"), Voluntary: Known(0), Involunt: Known(0), Migrations: Known(0)}
		for _, dir := range tasks {
			vol, invol := parseSwitches(open(root, dir+"/status"))
			p.Voluntary, p.Involunt = p.Voluntary.plus(vol), p.Involunt.plus(invol)
			p.Migrations = p.Migrations.plus(parseMigrations(open(root, dir+"/sched")))
		}
		procs = append(procs, p)
	}
	return procs
}

// parseSwitches reads the switches of one thread from its status file (proc_pid_status(5)).
func parseSwitches(r io.Reader) (voluntary, involuntary Count) {
	lines(r, func(line string) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "voluntary_ctxt_switches":
			voluntary = parseCount(value)
		case "nonvoluntary_ctxt_switches":
			involuntary = parseCount(value)
		}
	})
	return voluntary, involuntary
}

// parseMigrations reads se.nr_migrations from a thread's sched file.
func parseMigrations(r io.Reader) Count {
	n := Count{}
	lines(r, func(line string) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == "se.nr_migrations" {
			n = parseCount(value)
		}
	})
	return n
}

func subProcs(now, before []Proc) []Proc {
	out := make([]Proc, len(now))
	for i, p := range now {
		out[i] = p
		j := slices.IndexFunc(before, func(b Proc) bool { return b.PID == p.PID && b.Name == p.Name })
		if j < 0 {
			continue
		}
		out[i].Voluntary = p.Voluntary.sub(before[j].Voluntary)
		out[i].Involunt = p.Involunt.sub(before[j].Involunt)
		out[i].Migrations = p.Migrations.sub(before[j].Migrations)
	}
	return out
}
