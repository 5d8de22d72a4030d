package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/host"
)

// Words of HolderMain in a container.
const (
	holderInContainer = "container" // be the holder; with holderKill and an id: end the driver in that container
	holderKill        = "kill"
)

// holdWords are the command of the holder's image: bench link hold.
var holdWords = [...]string{"link", "hold"}

// HolderArgs says whether a command line, without the program's name, is that of a holder, and returns what HolderMain takes.
func HolderArgs(args []string) (rest []string, holder bool) {
	switch {
	case len(args) > 0 && args[0] == HolderArg:
		return args[1:], true
	case len(args) > 1 && args[0] == holdWords[0] && args[1] == holdWords[1]:
		return append([]string{holderInContainer}, args[2:]...), true
	}
	return nil, false
}

// boxFacts is what only the inside of a container can tell of the machine that measures.
type boxFacts struct {
	Environment *host.Environment `json:"environment"`
	Topology    []CPU             `json:"topology"`
	NoFileHard  uint64            `json:"nofile_hard"`
}

// containerHolder is PID 1 of the holder's container: it applies the link, then answers over its standard streams. It returns
// when its standard input ends, which the engine brings about when bench lets go of it or dies. The drivers' containers share its PID
// namespace, so its end is theirs.
func containerHolder(args []string) error {
	if len(args) == 2 && args[0] == holderKill {
		return killBoxed(args[1])
	}
	if len(args) != 0 {
		return fmt.Errorf("arguments %q: want none", args)
	}
	if os.Getpid() != 1 {
		return errors.New("not started by bench: want PID 1 of a container")
	}
	h := &holder{
		ch: newStdio(os.Stdin, os.Stdout, os.Stdin.Close), link: systemLink(), children: newChildren(), boxed: true,
	}
	sigchld := make(chan os.Signal, 1)
	signal.Notify(sigchld, unix.SIGCHLD)
	go h.reapOrphans(sigchld) // ends with the process: PID 1 reaps as long as it lives
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, func() { _ = h.ch.close() })() // docker stop
	return h.serve(ctx, nil)
}

// reapOrphans collects what drivers leave behind in the shared PID namespace; launch itself belongs to the engine.
func (h *holder) reapOrphans(sigchld <-chan os.Signal) {
	for range sigchld {
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || pid == 0 {
				break
			}
		}
	}
}

// handleBoxed answers what is different in a container; done is false for everything else.
func (h *holder) handleBoxed(ctx context.Context, req request) (rep reply, done bool) {
	switch req.Op {
	case opProbe:
		facts, err := readFacts()
		return withError(reply{Links: h.link.probe(ctx), Facts: facts}, err), true
	case opHost:
		return h.whole(req.Full), true
	case opThreads:
		launch, err := launchOf(req.Box)
		if err != nil {
			return failed(err), true
		}
		threads, err := driverThreads(launch)
		return withError(reply{Threads: threads}, err), true
	case opSignal, opKill:
		return failed(fmt.Errorf("operation %q: belongs to the engine in a container", req.Op)), true
	}
	return reply{}, false
}

func readFacts() (*boxFacts, error) {
	topology, err := Topology()
	if err != nil {
		return nil, err
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil, fmt.Errorf("open files limit: %w", err)
	}
	env := host.Capture(os.DirFS("/"), host.Options{})
	return &boxFacts{Environment: &env, Topology: topology, NoFileHard: limit.Max}, nil
}

// whole is a report of the machine as well as of the network and the drivers: bench cannot read it where it runs.
func (h *holder) whole(full bool) reply {
	now, err := monotonic()
	if err != nil {
		return failed(err)
	}
	root := os.DirFS("/")
	rep := &host.Report{}
	if full {
		env := host.Capture(root, host.Options{})
		rep.Environment, rep.Namespace = &env, host.Sysctls(root)
	}
	launches, err := launches()
	if err != nil {
		return failed(err)
	}
	var pids []int
	for _, launch := range launches {
		if kids, err := scanChildren(launch); err == nil {
			pids = append(pids, kids...)
		}
	}
	rep.Counters = host.Read(root, now, pids)
	return reply{Host: rep}
}

// launches lists the first processes of the other containers in this PID namespace: their parent is outside of it.
func launches() ([]int, error) {
	all, err := scanChildren(0)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, pid := range all {
		if pid != 1 && pid != os.Getpid() {
			out = append(out, pid)
		}
	}
	return out, nil
}

// launchOf finds the first process of a container by its control group, whose path holds the container's id with every driver
// of every engine (cgroupfs: docker/ID, systemd: docker-ID.scope, podman: libpod-ID).
func launchOf(id string) (int, error) {
	pids, err := launches()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		group, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
		if err == nil && id != "" && strings.Contains(string(group), id) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("container %.12s: no process of it is left", id)
}

// killBoxed ends the driver in a container and leaves launch alive, as killDriver does. It runs beside the holder under the
// drivers' user: the holder itself has no right to signal them.
func killBoxed(id string) error {
	launch, err := launchOf(id)
	if err != nil {
		return nil //nolint:nilerr // gone already, which is what was wanted
	}
	kids, err := scanChildren(launch)
	return killAll(launch, kids, err)
}
