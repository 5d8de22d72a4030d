package echotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"transportbench/transports/wire"
)

const (
	maxStderr = 64 << 10 // bytes kept of a driver's logs
	lateClose = time.Second
)

// invocation is one start of the driver.
type invocation struct {
	role      string // of wire.NewStream
	args      []string
	cpus      []int         // nil: not pinned
	openStdin bool          // standard input stays open until closed; otherwise it is at its end at once
	limit     time.Duration // SIGKILL of the process group after this
}

// output is everything a finished driver left behind.
type output struct {
	records []wire.Record
	faults  []error // breaches of the record rules, in order
	exit    int     // exit code; -1 after a signal
	signal  string
	killed  bool // the limit was reached
	stderr  string
	wall    time.Duration
}

// process is a started driver.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer // nil unless openStdin
	ready  chan wire.Ready
	ended  chan struct{}
	launch bool

	mu  sync.Mutex // guards out until ended is closed
	out output
}

// start runs the driver. Its output is read, bounded, until the process group is gone.
func (s *session) start(ctx context.Context, inv invocation) (*process, error) {
	argv := append([]string{s.opt.Driver}, inv.args...)
	if s.opt.Launch != "" {
		argv = append([]string{s.opt.Launch, "--"}, argv...)
	}
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), ready: make(chan wire.Ready, 1), ended: make(chan struct{}), launch: s.opt.Launch != ""}
	p.cmd.Env = []string{}
	newGroup(p.cmd)
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("driver output: %w", err)
	}
	logs := &head{}
	p.cmd.Stderr, p.cmd.WaitDelay = logs, lateClose
	if inv.openStdin {
		if p.stdin, err = p.cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("driver input: %w", err)
		}
	}
	began := time.Now()
	if err := startPinned(p.cmd, inv.cpus); err != nil {
		return nil, fmt.Errorf("driver start: %w", err)
	}
	unbind := context.AfterFunc(ctx, p.kill)
	limit := time.AfterFunc(inv.limit, func() { p.timeUp(stdout) })
	go func() { // ends with the process: the limit kills whatever keeps the output open
		p.read(stdout, inv.role)
		err := p.cmd.Wait()
		limit.Stop()
		unbind()
		p.finish(err, logs.String(), time.Since(began))
	}()
	return p, nil
}

// timeUp kills the process group, then closes our end of the output in case a process left the group.
func (p *process) timeUp(stdout io.Closer) {
	p.mu.Lock()
	p.out.killed = true
	p.mu.Unlock()
	p.kill()
	select {
	case <-p.ended:
	case <-time.After(lateClose):
		_ = stdout.Close()
	}
}

func (p *process) read(stdout io.Reader, role string) {
	stream := wire.NewStream(stdout, role)
	for {
		rec, err := stream.Next()
		p.note(rec, err)
		if ready, ok := rec.(wire.Ready); ok {
			p.ready <- ready
		}
		var line *wire.LineError
		if err != nil && !errors.As(err, &line) {
			if errors.Is(err, wire.ErrTotal) {
				p.kill()
			}
			break
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
}

// maxFaults bounds what is kept of a driver that writes nothing but junk.
const maxFaults = 20

func (p *process) note(rec wire.Record, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rec != nil {
		p.out.records = append(p.out.records, rec)
	}
	if err != nil && err != io.EOF && len(p.out.faults) < maxFaults {
		p.out.faults = append(p.out.faults, err)
	}
}

func (p *process) finish(err error, stderr string, wall time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.exit, p.out.signal = exitOf(p.cmd.ProcessState)
	if exit, ok := find[wire.Exit](p.out.records); ok && p.launch {
		p.out.exit = exit.Status
		if exit.Signal != 0 {
			p.out.exit, p.out.signal = -1, fmt.Sprintf("signal %d", exit.Signal)
		}
	}
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		p.out.faults = append(p.out.faults, err)
	}
	p.out.stderr, p.out.wall = stderr, wall
	close(p.ended)
}

// kill ends the process group, unless the process has been waited for and its number may belong to another.
func (p *process) kill() {
	select {
	case <-p.ended:
	default:
		killGroup(p.cmd)
	}
}

// wait returns what the process left behind, at the latest when its limit has killed it.
func (p *process) wait() output {
	<-p.ended
	return p.out
}

// find returns the first record of type R.
func find[R wire.Record](records []wire.Record) (R, bool) {
	for _, r := range records {
		if r, ok := r.(R); ok {
			return r, true
		}
	}
	var none R
	return none, false
}

// how describes the end of a process in a few words, with the end of its logs.
func (o output) how() string {
	text := fmt.Sprintf("exit %d", o.exit)
	switch {
	case o.killed:
		text = fmt.Sprintf("still running after %v, killed", o.wall.Round(time.Millisecond))
	case o.signal != "":
		text = "death by " + o.signal
	}
	if e, ok := find[wire.Error](o.records); ok {
		return text + ", error record: " + e.Message
	}
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	if last := lines[len(lines)-1]; last != "" {
		text += ", log: " + last[:min(len(last), 200)]
	}
	return text
}

// head keeps the first maxStderr bytes of a driver's logs and swallows the rest.
type head struct {
	mu sync.Mutex
	b  []byte
}

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.b = append(h.b, b[:min(len(b), maxStderr-len(h.b))]...)
	return len(b), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.b)
}
