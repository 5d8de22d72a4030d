package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"transportbench/artifacts"
	"transportbench/pipeline/runner"
	"transportbench/pipeline/sandbox"
)

type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

// scriptCommands are the words of the scripts. None takes a leading "!".
func scriptCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"exits": exits, "says": says, "recorded": recorded, "once": once, "stopped": stopped, "hold": hold, "freed": freed,
	}
}

// exits CODE PROGRAM ARGS... runs a program that must end with that code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// progress is what a session may print on stderr beside its error.
var progress = regexp.MustCompile(`^(\[\d+/\d+\] |\d+ of \d+ runs to do, |\d+ planned: )`)

// says REGEXP wants exactly one line of error from the last program, and it to match.
func says(ts *testscript.TestScript, _ bool, args []string) {
	var lines []string
	for l := range strings.Lines(ts.ReadFile("stderr")) {
		if l = strings.TrimSuffix(l, "\n"); !progress.MatchString(l) {
			lines = append(lines, l)
		}
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "bench: ") || !regexp.MustCompile(args[0]).MatchString(lines[0]) {
		ts.Fatalf("stderr has %q, want one line with %s", lines, args[0])
	}
}

// recorded DIR OUTCOME N [REASON] wants N runs whose last attempt ended so, each with a reason of one line that matches.
func recorded(ts *testscript.TestScript, _ bool, args []string) {
	a, err := artifacts.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	reason := regexp.MustCompile("")
	if len(args) > 3 {
		reason = regexp.MustCompile(args[3])
	}
	n, last := 0, map[string]artifacts.Record{}
	for _, r := range a.Records {
		last[r.RunID] = r
	}
	for _, r := range last {
		if string(r.Outcome) != args[1] {
			continue
		}
		if n++; !reason.MatchString(r.Reason) || strings.Contains(r.Reason, "\n") || strings.Contains(r.Reason, ts.Getenv("WORK")) {
			ts.Fatalf("%s: reason %q, want one line with %s and no path of this machine", r.RunID, r.Reason, args[3])
		}
	}
	if strconv.Itoa(n) != args[2] {
		ts.Fatalf("%d runs are %s, want %s", n, args[1], args[2])
	}
}

// once DIR wants every planned run to have exactly one line, in the order of the plan.
func once(ts *testscript.TestScript, _ bool, args []string) {
	a, err := artifacts.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(a.Records) != len(a.Plan) {
		ts.Fatalf("%d lines for %d runs", len(a.Records), len(a.Plan))
	}
	for i, r := range a.Records {
		if r.RunID != a.Plan[i].RunID || r.Attempt != 1 {
			ts.Fatalf("line %d is attempt %d of %s, want %s", i, r.Attempt, r.RunID, a.Plan[i].RunID)
		}
	}
}

// start runs bench beside the script. It must be waited for.
func start(ts *testscript.TestScript, args []string) (cmd *exec.Cmd, out, log io.Reader) {
	self, err := os.Executable()
	ts.Check(err)
	cmd = &exec.Cmd{Path: self, Args: append([]string{"bench"}, args...), Dir: ts.MkAbs(".")}
	for _, name := range []string{"PATH", "TMPDIR", lockVar, engineVar} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	out, err = cmd.StdoutPipe()
	ts.Check(err)
	log, err = cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	return cmd, out, log
}

// stopped SIGNAL RUNS CODE ARGS... sends bench a signal when so many runs are done and the next has begun.
func stopped(ts *testscript.TestScript, _ bool, args []string) {
	runs, err := strconv.Atoi(args[1])
	ts.Check(err)
	cmd, out, log := start(ts, append(args[3:], "--progress=json"))
	text := make(chan []byte)
	go func() { // ends with bench
		b, _ := io.ReadAll(log)
		text <- b
	}()
	sent := false
	for dec := json.NewDecoder(out); ; {
		var e runner.Event
		if dec.Decode(&e) != nil {
			break
		}
		if e.Type == runner.EventRun && e.Done == runs && !sent {
			sent = true
			ts.Check(cmd.Process.Signal(map[string]syscall.Signal{"INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM}[args[0]]))
		}
	}
	said := <-text
	_ = cmd.Wait() // its code is the subject
	ts.Logf("[stderr]\n%s", said)
	if code := strconv.Itoa(cmd.ProcessState.ExitCode()); code != args[2] || !sent {
		ts.Fatalf("exit code %s, want %s; signal sent: %t", code, args[2], sent)
	}
}

// held is a lock that a script holds.
type (
	held    struct{ release func() }
	heldKey struct{}
)

// hold locks this script's machine.
func hold(ts *testscript.TestScript, _ bool, _ []string) {
	h := ts.Value(heldKey{}).(*held)
	release, _, err := sandbox.Lock(context.Background(), filepath.Clean(ts.Getenv(lockVar)), sandbox.LockNoWait, nil)
	ts.Check(err)
	h.release = release
	ts.Defer(func() {
		if h.release != nil {
			h.release()
		}
	})
}

// freed REGEXP ARGS... starts bench, gives the lock back once it has said so on stderr, and wants it to end well.
func freed(ts *testscript.TestScript, _ bool, args []string) {
	h := ts.Value(heldKey{}).(*held)
	cmd, out, log := start(ts, args[1:])
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with bench
	for lines := bufio.NewScanner(log); lines.Scan(); {
		ts.Logf("%s", lines.Text())
		if h.release != nil && regexp.MustCompile(args[0]).MatchString(lines.Text()) {
			h.release()
			h.release = nil
		}
	}
	if err := cmd.Wait(); err != nil || h.release != nil {
		ts.Fatalf("bench: %v; still waited for: %t", err, h.release != nil)
	}
}
