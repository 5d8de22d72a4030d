package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/host"
)

// Local is the runtime without Docker and without root: drivers run in new user, network, mount, PID, IPC and UTS
// namespaces of this machine, one set per run, under a re-executed copy of the program that uses it. That program must
// hand HolderArg to HolderMain.
type Local struct {
	launch  string
	results *resultsDir

	mu          sync.Mutex
	environment *host.Environment // captured once: the machine does not change between runs
}

// NewLocal takes the path of the launch program. An error names what is missing and how to get it.
func NewLocal(launch string) (*Local, error) {
	if err := executable("launch", launch, "build it with `bench drivers build`"); err != nil {
		return nil, err
	}
	results, err := newResultsDir(os.TempDir())
	if err != nil {
		return nil, err
	}
	return &Local{launch: launch, results: results}, nil
}

// Name returns "local".
func (l *Local) Name() string { return "local" }

// Close removes the runtime's results folder.
func (l *Local) Close() error { return l.results.close() }

// Probe reports what this machine can do, found by opening a private network and trying the link backends in it.
func (l *Local) Probe(ctx context.Context) (Probe, error) {
	p := Probe{Namespaces: "ok"}
	cpus, err := allowedCPUs()
	if err != nil {
		return p, err
	}
	p.CPUs, p.Topology = cpus, ReadTopology(os.DirFS("/sys"), cpus)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return p, fmt.Errorf("open files limit: %w", err)
	}
	p.NoFileHard = limit.Max
	e, err := l.start("probe")
	var missing *UnsupportedError
	if errors.As(err, &missing) {
		p.Namespaces, p.Fix = missing.What, missing.Fix
		return p, nil
	}
	if err != nil {
		return p, err
	}
	defer func() { _ = e.Close() }()
	rep, err := e.call(ctx, request{Op: opProbe}, nil)
	if err = diagnoseSetup(err); errors.As(err, &missing) {
		p.Namespaces, p.Fix = missing.What, missing.Fix
		return p, nil
	}
	p.Links = rep.Links
	return p, err
}

// Open makes a private network and applies the link in it.
func (l *Local) Open(ctx context.Context, spec EnvSpec) (Env, error) {
	e, err := l.start(spec.RunID)
	if err != nil {
		return nil, err
	}
	if err := e.applyLink(ctx, spec); err != nil {
		_ = e.Close()
		return nil, diagnoseSetup(err)
	}
	return e, nil
}

// executable checks that path can be run, so that a missing program is told before a namespace is made.
func executable(role, path, fix string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
	case info.IsDir():
		err = errors.New("is a folder")
	case unix.Access(path, unix.X_OK) != nil:
		err, fix = errors.New("is not executable"), "run chmod +x on it, and check that its file system is not mounted noexec"
	}
	if err != nil {
		return &ProgramError{Role: role, Path: path, Fix: fix, Err: err}
	}
	return nil
}
