package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/host"
)

// inside is what the holder alone can tell: the settings of the private network and the drivers that run.
func (h *holder) inside(full bool) reply {
	root := os.DirFS("/")
	rep := &host.Report{}
	if full {
		rep.Namespace = host.Sysctls(root)
	}
	var pids []int
	for _, launch := range h.children.pids() {
		if kids, err := childrenOf(launch); err == nil { // without a /proc of its own the list stays empty
			pids = append(pids, kids...)
		}
	}
	rep.Counters.Procs = host.ReadProcs(root, pids)
	return reply{Host: rep}
}

// Host returns a host.Report. The machine is read from bench's side, where nothing of it is hidden; its environment, which
// does not change, is in the first report of each network.
func (e *localEnv) Host(ctx context.Context) (json.RawMessage, error) {
	rep, err := e.call(ctx, request{Op: opHost, Full: !e.told}, nil)
	if err != nil {
		return nil, err
	}
	now, err := monotonic()
	if err != nil {
		return nil, err
	}
	out := host.Report{Namespace: rep.Host.Namespace, Counters: host.Read(os.DirFS("/"), now, nil)}
	out.Counters.Procs = rep.Host.Counters.Procs
	if !e.told {
		out.Environment = e.rt.capture()
		e.told = true
	}
	return json.Marshal(out)
}

func (l *Local) capture() *host.Environment {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.environment == nil {
		env := host.Capture(os.DirFS("/"), host.Options{})
		l.environment = &env
	}
	return l.environment
}

// monotonic is the clock that the drivers' records use.
func monotonic() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, fmt.Errorf("monotonic clock: %w", err)
	}
	return time.Duration(ts.Nano()), nil
}
