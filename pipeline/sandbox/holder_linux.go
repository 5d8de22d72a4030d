package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"
)

// HolderArg is the hidden first argument that turns a program into a holder: `if argv[1] == HolderArg { os.Exit(HolderMain(argv[2:])) }`.
const HolderArg = "__holder"

// holderFD is the descriptor of the socket to bench, the first of exec.Cmd.ExtraFiles.
const holderFD = 3

// HolderMain is PID 1 of a private network. It applies the link, starts and reaps drivers and answers bench over the
// inherited socket. It returns when bench closes that socket or dies, and with it the kernel ends every process inside.
func HolderMain(args []string) int {
	if err := holderMain(args); err != nil {
		fmt.Fprintln(os.Stderr, "holder:", err)
		return 1
	}
	return 0
}

func holderMain(args []string) error {
	if len(args) > 0 && args[0] == holderInContainer {
		return containerHolder(args[1:])
	}
	if len(args) != 0 {
		return fmt.Errorf("arguments %q: want none", args)
	}
	// exec keeps it, but a bench that died before the first request would otherwise leave a holder in its setup.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("parent death signal: %w", err)
	}
	if os.Getpid() != 1 {
		return errors.New("not started by bench: want PID 1 of a new namespace")
	}
	ch, err := newChannel(os.NewFile(holderFD, "bench"))
	if err != nil {
		return err
	}
	setup := privateMounts()
	h := &holder{ch: ch, link: systemLink(), children: newChildren()}
	sigchld := make(chan os.Signal, 1)
	signal.Notify(sigchld, unix.SIGCHLD)
	go h.reap(sigchld) // ends with the process: PID 1 reaps as long as it lives
	return h.serve(context.Background(), setup)
}

// privateMounts cuts the mount namespace off from the host and shows this PID namespace in /proc.
func privateMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	// A container with masked /proc entries refuses a fresh one. Nothing measured depends on it: the host's view stays.
	err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("/proc: %w", err)
	}
	return nil
}

// holder is the state of PID 1. Requests are served one after another; only reaping runs beside them.
type holder struct {
	ch       messenger
	link     linker
	applied  applied
	children *children
	boxed    bool // in a container: drivers are started by the engine, and bench may be on another machine
}

// serve answers requests until the peer is gone. setup is reported with the first answer, so that bench can explain it.
func (h *holder) serve(ctx context.Context, setup error) error {
	for {
		msg, fds, err := h.ch.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var req request
		if err := json.Unmarshal(msg, &req); err != nil {
			closeAll(fds)
			return fmt.Errorf("request: %w", err)
		}
		rep := reply{}
		if setup != nil {
			closeAll(fds)
			rep.Error = &replyError{Text: setup.Error()}
		} else {
			rep = h.handle(ctx, req, fds)
		}
		rep.ID = req.ID
		if err := h.answer(rep); err != nil {
			return nil // bench is gone
		}
	}
}

func (h *holder) answer(rep reply) error {
	msg, err := json.Marshal(rep)
	if err == nil && len(msg) > maxMessage {
		err = fmt.Errorf("answer of %d bytes is over the limit of %d", len(msg), maxMessage)
	}
	if err != nil {
		msg, _ = json.Marshal(reply{ID: rep.ID, Error: &replyError{Text: err.Error()}})
	}
	return h.ch.write(msg, nil)
}

// handle owns fds.
func (h *holder) handle(ctx context.Context, req request, fds []int) reply {
	if req.Op == opStart {
		return h.start(req.Start, fds)
	}
	closeAll(fds)
	if h.boxed {
		if rep, done := h.handleBoxed(ctx, req); done {
			return rep
		}
	}
	switch req.Op {
	case opOpen:
		return h.open(ctx, req.Open)
	case opProbe:
		return reply{Links: h.link.probe(ctx)}
	case opSignal:
		return failed(unix.Kill(req.Proc, unix.Signal(req.Signal)))
	case opKill:
		return failed(killDriver(req.Proc))
	case opCounters:
		return h.counters(ctx)
	case opHost:
		return h.inside(req.Full)
	case opThreads:
		threads, err := driverThreads(req.Proc)
		return withError(reply{Threads: threads}, err)
	}
	return failed(fmt.Errorf("operation %q: unknown", req.Op))
}

func (h *holder) open(ctx context.Context, spec *EnvSpec) reply {
	if spec == nil || h.applied != nil {
		return failed(errors.New("open: want one specification, once"))
	}
	a, err := h.link.apply(ctx, *spec)
	if err != nil {
		return failed(err)
	}
	h.applied = a
	st := a.State()
	return reply{State: &st}
}

func (h *holder) counters(ctx context.Context) reply {
	if h.applied == nil {
		return failed(errors.New("counters: no link is applied"))
	}
	c, err := h.applied.Counters(ctx)
	return withError(reply{Counters: &c}, err)
}

func failed(err error) reply { return withError(reply{}, err) }

func withError(rep reply, err error) reply {
	if err == nil {
		return rep
	}
	e := &replyError{Text: strings.ReplaceAll(err.Error(), "\n", "; ")}
	var u *UnsupportedError
	if errors.As(err, &u) {
		e.Text, e.Fix, e.Unsupported = u.What, u.Fix, true
	}
	return reply{Error: e}
}
