// Package launch holds no Go code but the tests of launch.c.
package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"transportbench/transports/wire"
)

// programs are built once: the launcher as documented in its first lines, and a driver that shows what it was given.
var programs struct{ launch, probe string }

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "launch")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs.launch, programs.probe = filepath.Join(dir, "launch"), filepath.Join(dir, "probe")
	code := 1
	if build("launch.c", programs.launch) && build("testdata/probe.c", programs.probe) {
		code = m.Run()
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func build(source, to string) bool {
	cmd := exec.Command("gcc", "-O2", "-static", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-o", to, source)
	out, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "gcc %s: %v\n%s", source, err, out)
	}
	return err == nil
}

// run starts the launcher with args and returns what the driver printed, its exit record and the launcher's code.
func run(t *testing.T, args ...string) (string, wire.Exit, int) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(programs.launch, args...)
	cmd.Stderr = &stderr
	cmd.Env = []string{"LEAK=1", "HOME=/nowhere"}
	out, err := cmd.Output()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	driver, exit := split(t, out)
	if stderr.Len() > 0 {
		t.Fatalf("standard error: %s", stderr.String())
	}
	return driver, exit, cmd.ProcessState.ExitCode()
}

// split takes the exit record, the last line, from the driver's output and decodes it strictly.
func split(t *testing.T, out []byte) (string, wire.Exit) {
	t.Helper()
	body, ok := bytes.CutSuffix(out, []byte("\n"))
	i := bytes.LastIndexByte(body, '\n')
	if !ok || i < 0 {
		t.Fatalf("output does not end in a line of its own: %q", out)
	}
	var exit wire.Exit
	d := json.NewDecoder(bytes.NewReader(body[i+1:]))
	d.DisallowUnknownFields()
	if err := d.Decode(&exit); err != nil {
		t.Fatalf("exit record %s: %v", body[i+1:], err)
	}
	if exit.Type != wire.TypeExit {
		t.Fatalf("type = %q", exit.Type)
	}
	return string(body[:i]), exit
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name                 string
		args                 []string
		code, status, signal int
		errno                syscall.Errno
	}{
		{"zero", []string{programs.probe, "exit", "0"}, 0, 0, 0, 0},
		{"driver's own code", []string{programs.probe, "exit", "3"}, 3, 3, 0, 0},
		{"unsupported", []string{programs.probe, "exit", "127"}, 127, 127, 0, 0},
		{"killed", []string{programs.probe, "kill", "9"}, 128 + 9, -1, 9, 0},
		{"crashed", []string{programs.probe, "kill", "11"}, 128 + 11, -1, 11, 0},
		{"missing driver", []string{"/nonexistent/driver"}, 126, 126, 0, syscall.ENOENT},
		{"driver without permission", []string{"/etc/passwd"}, 126, 126, 0, syscall.EACCES},
		{"no search in PATH", []string{"true"}, 126, 126, 0, syscall.ENOENT},
		{"driver that exits 126 itself", []string{programs.probe, "exit", "126"}, 126, 126, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, exit, code := run(t, append([]string{"--"}, c.args...)...)
			if code != c.code || exit.Status != c.status || exit.Signal != c.signal || exit.ExecErrno != int(c.errno) {
				t.Errorf("code %d, record %+v; want %+v", code, exit, c)
			}
			if !slices.Equal(exit.Argv, c.args) {
				t.Errorf("argv = %q, want %q", exit.Argv, c.args)
			}
		})
	}
}

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct {
		name, want string
		code       int
		args       []string
	}{
		{"nothing", "driver is missing", 2, nil},
		{"no driver", "driver is missing", 2, []string{"-nice", "10", "--"}},
		{"no dashes", "want -- before", 2, []string{programs.probe}},
		{"unknown flag", "unknown flag", 2, []string{"-speed", "9", "--", programs.probe}},
		{"missing value", "value is missing", 2, []string{"-nice"}},
		{"nice out of range", "from -20 to 19", 2, []string{"-nice=20", "--", programs.probe}},
		{"nice not a number", "from -20 to 19", 2, []string{"-nice", "1x", "--", programs.probe}},
		{"empty nice", "from -20 to 19", 2, []string{"-nice=", "--", programs.probe}},
		{"nofile too small", "from 3", 2, []string{"-nofile", "2", "--", programs.probe}},
		{"cpus backwards", "list such as", 2, []string{"-cpus", "3-1", "--", programs.probe}},
		{"cpus with a tail", "list such as", 2, []string{"-cpus", "0,", "--", programs.probe}},
		{"cpus with a space", "list such as", 2, []string{"-cpus", "0, 1", "--", programs.probe}},
		{"cpus too large", "list such as", 2, []string{"-cpus", "8192", "--", programs.probe}},
		{"cpus absent here", "can be used here", 125, []string{"-cpus", "8191", "--", programs.probe}},
		{"cpus partly absent", "not allowed here", 125, []string{"-cpus", fmt.Sprint(allowed(t)[0], ",8191"), "--", programs.probe}},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefused(t, c.args, c.code, c.want) })
	}
}

// checkRefused wants one line on standard error and nothing started.
func checkRefused(t *testing.T, args []string, code int, want string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(programs.launch, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("standard error = %q, want one line with %q", stderr.String(), want)
	}
	if stdout.Len() != 0 {
		t.Errorf("a driver was started or a record written: %q", stdout.String())
	}
}

func allowed(t *testing.T) []int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var cpus []int
	for i := range len(set) * int(unsafe.Sizeof(set[0])) * 8 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// shown is what testdata/probe.c prints about itself.
type shown struct {
	Environment, Nice, Group, ParentDeath, Blocked, Ignored int
	NoFileSoft, NoFileHard                                  uint64
	Affinity                                                []int
}

func show(t *testing.T, flags ...string) (shown, wire.Exit) {
	t.Helper()
	out, exit, code := run(t, append(flags, "--", programs.probe, "show")...)
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var s shown
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	return s, exit
}

func TestDriverSeesItsSettings(t *testing.T) {
	cpu := allowed(t)[len(allowed(t))-1]
	for _, c := range []struct {
		name   string
		flags  []string
		nice   int
		cpus   []int
		noFile uint64
	}{
		{"defaults", nil, 10, allowed(t), 16384},
		{"one dash and a space", []string{"-nice", "12", "-cpus", fmt.Sprint(cpu)}, 12, []int{cpu}, 16384},
		{"two dashes and equals", []string{"--nice=19", "--cpus=" + fmt.Sprintf("%d-%d,%d", cpu, cpu, cpu)}, 19, []int{cpu}, 16384},
		{"fewer files", []string{"-nofile=64"}, 10, allowed(t), 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			var limit unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
				t.Fatal(err)
			}
			s, exit := show(t, c.flags...)
			// Raised only: a soft limit already above the wanted one stays. The Go runtime restores the original
			// soft limit for its children, so the expectation is a range.
			if s.NoFileSoft < min(c.noFile, limit.Max) || s.NoFileHard != limit.Max {
				t.Errorf("nofile %d of %d, want at least %d of %d", s.NoFileSoft, s.NoFileHard, c.noFile, limit.Max)
			}
			if s.Nice != c.nice || exit.Nice != c.nice {
				t.Errorf("nice %d, recorded %d, want %d", s.Nice, exit.Nice, c.nice)
			}
			if !slices.Equal(s.Affinity, c.cpus) || !slices.Equal(exit.Affinity, c.cpus) {
				t.Errorf("affinity %v, recorded %v, want %v", s.Affinity, exit.Affinity, c.cpus)
			}
			if exit.NoFileSoft != s.NoFileSoft || exit.NoFileHard != s.NoFileHard {
				t.Errorf("record %+v differs from the driver's %+v", exit, s)
			}
			if s.Environment != 0 || s.Group != 1 || s.ParentDeath != int(syscall.SIGKILL) || s.Blocked != 0 || s.Ignored != 0 {
				t.Errorf("want an empty environment, an own group, SIGKILL with the parent, no signal blocked or ignored: %+v", s)
			}
		})
	}
}

func TestSoftLimitIsRaisedToTheHardLimit(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", `ulimit -Sn 50; ulimit -Hn 200; exec "$0" -- "$1" show`, programs.launch, programs.probe)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, exit := split(t, out); exit.NoFileSoft != 200 || exit.NoFileHard != 200 {
		t.Errorf("nofile %d of %d, want 200 of 200", exit.NoFileSoft, exit.NoFileHard)
	}
}

func TestOddArgumentsSurvive(t *testing.T) {
	for _, c := range []struct{ name, arg, want string }{
		{"empty", "", ""},
		{"quote and backslash", `a"b\c`, `a"b\c`},
		{"control characters", "\x01\t\n\r\x1f\x7f", "\x01\t\n\r\x1f\x7f"},
		{"utf-8 of every length", "é€𝄞", "é€𝄞"},
		{"stray bytes", "a\xffb\xc3", "a\ufffdb\ufffd"},
		{"overlong and surrogate", "\xc0\x80\xed\xa0\x80", strings.Repeat("\ufffd", 5)},
		{"beyond unicode", "\xf4\x90\x80\x80", strings.Repeat("\ufffd", 4)},
		{"a dash of its own", "--", "--"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, exit, _ := run(t, "--", programs.probe, "echo", c.arg)
			if out != c.arg+"\n" {
				t.Errorf("driver got %q, want %q", out, c.arg+"\n")
			}
			if got := exit.Argv[2]; got != c.want {
				t.Errorf("record has %q, want %q", got, c.want)
			}
		})
	}
}
