package echo

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"transportbench/transports/wire"
)

// Main is a whole driver: it answers `describe` or plays the role that args, without the program's name, ask for, and returns the
// exit code. It installs handlers for SIGTERM and SIGINT while it runs. After a deadline it returns although calls into the
// transport may still hang, so the caller should end the process.
func Main(t Transport, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(stop)
	d := driver{transport: t, stdin: stdin, out: wire.NewWriter(stdout), stderr: stderr, stop: stop}
	return d.main(args)
}

// driver is one invocation with everything it may touch; tests replace the signals.
type driver struct {
	transport Transport
	stdin     io.Reader
	out       *wire.Writer
	stderr    io.Writer
	stop      <-chan os.Signal
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
		return d.out.Write(describe(d.transport))
	}
	cfg, err := wire.Parse(args, d.stderr)
	if err != nil {
		return err
	}
	if err := offered(d.transport.Describe(), cfg); err != nil {
		return err
	}
	runtime.GOMAXPROCS(Workers(cfg))
	if cfg.Role == wire.RoleServer {
		return d.serve(cfg)
	}
	return d.measure(cfg)
}

// hello is the first record of both roles.
func (d *driver) hello(s wire.Settings) error {
	return d.out.Write(wire.Hello{Contract: wire.ContractVersion, PID: os.Getpid(), Settings: s})
}
