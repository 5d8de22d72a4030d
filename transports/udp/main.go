//go:build linux

package udp

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// Main is the whole driver: it answers `describe` or plays the role that args, without the program's name, ask for, and returns
// the exit code. It installs handlers for SIGTERM and SIGINT while it runs.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(stop)
	d := driver{stdin: stdin, out: wire.NewWriter(stdout), stderr: stderr, stop: stop, env: environment{firstSourcePort, lostAfterNS}}
	return d.main(args)
}

// driver is one invocation with everything it may touch; tests replace the signals and the environment.
type driver struct {
	stdin  io.Reader
	out    *wire.Writer
	stderr io.Writer
	stop   <-chan os.Signal
	env    environment
}

// environment is what only tests change, because they share the machine with others.
type environment struct {
	firstPort uint16 // source port of connection 0
	lostNS    int64  // an echo unseen for so long is lost
}

func (d *driver) main(args []string) int {
	code, rec := wire.Failure(d.invoke(args))
	if code == wire.ExitOK {
		return code
	}
	fmt.Fprintln(d.stderr, rec.Message)
	if err := d.out.Write(rec); err != nil {
		fmt.Fprintln(d.stderr, err)
	}
	return code
}

func (d *driver) invoke(args []string) error {
	if len(args) == 1 && args[0] == "describe" {
		return d.out.Write(description())
	}
	cfg, err := wire.Parse(args, d.stderr)
	if err != nil {
		return err
	}
	if err := offered(cfg); err != nil {
		return err
	}
	runtime.GOMAXPROCS(processors(cfg))
	if cfg.Role == wire.RoleServer {
		return d.serve(cfg)
	}
	return d.measure(cfg)
}

// threads is how many threads carry datagrams.
func threads(cfg wire.Config) int {
	if cfg.Role == wire.RoleServer {
		return cfg.Listeners
	}
	return min(echo.Workers(cfg), cfg.Connections)
}

// processors is GOMAXPROCS: -workers where it is given, else one more than threads. While one processor is idle the scheduler
// leaves a thread that waits in the kernel its own, and the thread goes on at once when it wakes. Without a spare one, measured on
// one CPU, the scheduler's monitor takes the processor away in every wait, which costs a sparse round a fifth of its time.
func processors(cfg wire.Config) int {
	if cfg.Workers > 0 {
		return cfg.Workers
	}
	return threads(cfg) + 1
}

func (d *driver) hello(cfg wire.Config) error {
	return d.out.Write(wire.Hello{Contract: wire.ContractVersion, PID: os.Getpid(), Settings: settings(cfg)})
}

func description() wire.Describe {
	return wire.Describe{
		Contract: wire.ContractVersion, Transport: "udp", TransportVersion: "1", SourceCommit: echo.SourceCommit(),
		Toolchain: runtime.Version(), APIs: []string{wire.APISend}, Features: []string{"unreliable"}, Encryption: "none",
		Limits: wire.Limits{MaxPayload: maxFragments * (defaultDatagram - headSize), MaxConnections: maxConnections},
		Facts: []string{
			"language Go",
			"no repair: an echo unseen for 50 ms counts as lost",
			"no congestion control and no pacing",
			"one datagram a message up to 1,400 B, equal fragments above",
		},
	}
}

// offered refuses what the description does not promise.
func offered(cfg wire.Config) error {
	d := description()
	switch {
	case !slices.Contains(d.APIs, cfg.API):
		return &wire.UnsupportedError{What: "api " + cfg.API}
	case cfg.Policy != wire.PolicyOff:
		return &wire.UnsupportedError{What: "policy " + cfg.Policy}
	case cfg.Connections > d.Limits.MaxConnections:
		return &wire.UnsupportedError{What: fmt.Sprintf("%d connections (at most %d)", cfg.Connections, d.Limits.MaxConnections)}
	}
	return nil
}
