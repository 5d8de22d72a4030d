package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

// process is a driver under supervision. Its fields are read only after the channel that guards them is closed.
type process struct {
	name  string
	p     sandbox.Process
	ready chan struct{} // closed at the ready record, or at the end
	done  chan struct{} // closed when both streams are at their end and Wait has returned

	side    artifacts.Side // guarded by done; side.Hello and readyAddr by ready
	address string
	log     logTail
	broken  error // first breach of the contract, guarded by done
	waitErr error

	helloAt, connectedAt, startAt, resultAt time.Time
}

// logTail keeps the last bytes of a log; the rest is counted.
type logTail struct {
	buf     []byte
	dropped int64
}

const (
	logKeep   = 256 << 10 // bytes of standard error that are kept
	logReason = 300       // bytes of it that go into a reason
)

func (l *logTail) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	if over := len(l.buf) - logKeep; over > 0 {
		l.dropped += int64(over)
		l.buf = append(l.buf[:0], l.buf[over:]...)
	}
	return len(p), nil
}

func (l *logTail) bytes() []byte {
	if l.dropped == 0 {
		return l.buf
	}
	return append(fmt.Appendf(nil, "[%d bytes before this are not kept]\n", l.dropped), l.buf...)
}

// last returns the end of the log on one line, for a reason.
func (l *logTail) last() string {
	b := l.buf[max(0, len(l.buf)-logReason):]
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "?")), " ")
}

// start starts a driver and reads what it writes until it ends. The goroutines end when the process does; done tells.
func start(ctx context.Context, env sandbox.Env, spec sandbox.ProcSpec, role string) (*process, error) {
	p, err := env.Start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Name, err)
	}
	d := &process{name: spec.Name, p: p, ready: make(chan struct{}), done: make(chan struct{})}
	d.side.Args = spec.Args
	var streams sync.WaitGroup
	streams.Go(func() { d.records(wire.NewStream(p.Stdout(), role)) })
	streams.Go(func() { _, _ = io.Copy(&d.log, p.Stderr()) }) // a log that breaks off is kept as far as it goes
	go func() {
		defer close(d.done)
		streams.Wait()
		d.waitErr = p.Wait()
	}()
	return d, nil
}

// records reads to the end of the output. A breach of the contract kills the driver; what launch says of its end is still read.
func (d *process) records(s *wire.Stream) {
	var once sync.Once
	announce := func() { once.Do(func() { close(d.ready) }) }
	defer announce()
	for {
		rec, err := s.Next()
		var line *wire.LineError
		switch {
		case err == nil:
			d.take(rec)
			if _, ok := rec.(wire.Ready); ok {
				announce()
			}
		case errors.As(err, &line):
			d.breach(err)
		default:
			if !errors.Is(err, io.EOF) {
				d.breach(err)
			}
			_, _ = io.Copy(io.Discard, d.p.Stdout()) // beyond the limit: the driver is being killed, let it end
			return
		}
	}
}

func (d *process) breach(err error) {
	if d.broken == nil {
		d.broken = err
		_ = d.p.Kill() // a driver that cannot be killed is caught by the deadline and the end of its network
	}
}

func (d *process) take(rec wire.Record) {
	switch r := rec.(type) {
	case wire.Hello:
		d.side.Hello, d.helloAt = &r, time.Now()
	case wire.Ready:
		d.address = r.Addr
	case wire.Connected:
		d.side.Connected, d.connectedAt = &r, time.Now()
	case wire.Start:
		d.side.Start, d.startAt = &r, time.Now()
	case wire.Result:
		d.side.Result, d.resultAt = &r, time.Now()
	case wire.Done:
		d.side.Done = &r
	case wire.Error:
		d.side.Error = &r
	case wire.Exit:
		r.Argv = portable(r.Argv)
		d.side.Exit = &r
	}
}

// portable takes what belongs to this machine out of a command line: the program's folder and the path of the samples file.
func portable(argv []string) []string {
	var out []string
	for i, a := range argv {
		if i == 0 {
			a = filepath.Base(a)
		}
		if !strings.HasPrefix(a, "-samples-file=") {
			out = append(out, a)
		}
	}
	return out
}

// exitReason says how the process failed, or nothing. It is called after done.
func (d *process) exitReason() string {
	e := d.side.Exit
	switch {
	case d.broken != nil && !errors.Is(d.broken, wire.ErrMissing):
		return d.broken.Error()
	case e == nil && d.waitErr != nil:
		return oneLine(d.waitErr.Error())
	case e == nil:
		return "launch reported no exit"
	case e.ExecErrno != 0:
		return fmt.Sprintf("could not be started: exec errno %d", e.ExecErrno)
	case e.Signal != 0:
		return fmt.Sprintf("ended by signal %d", e.Signal) + d.oom() + d.said()
	case e.Status != wire.ExitOK:
		return fmt.Sprintf("exited %d", e.Status) + d.said()
	case d.side.Error != nil:
		return "exited 0" + d.said()
	case d.broken != nil:
		return d.broken.Error()
	case d.waitErr != nil:
		return oneLine(d.waitErr.Error())
	}
	return ""
}

// container notes what the engine said of the process's container. It is called after done.
func (d *process) container() {
	r, ok := d.p.(sandbox.ContainerReader)
	if !ok {
		return
	}
	c := artifacts.Container(r.Container())
	d.side.Container = &c
}

// oom names the event that a signal came from.
func (d *process) oom() string {
	if c := d.side.Container; c != nil && c.OOMKilled {
		return fmt.Sprintf(" (event oom_kill of its container's memory control group, limit %d MiB)", c.MemoryBytes>>20)
	}
	return ""
}

// said quotes the error record, or else the end of the log.
func (d *process) said() string {
	if e := d.side.Error; e != nil {
		return fmt.Sprintf(": %s: %s", e.Code, oneLine(e.Message))
	}
	if l := d.log.last(); l != "" {
		return ": log ends with: " + l
	}
	return ""
}

func oneLine(s string) string {
	return string(bytes.Join(bytes.Fields([]byte(s)), []byte(" ")))
}
