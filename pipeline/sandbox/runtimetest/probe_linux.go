package runtimetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// hang is longer than any test; what hangs is ended by the runtime or the test has failed.
const hang = time.Hour

// ProbeMain is the probe driver: facts, say TEXT, exit N, hang, deaf (hangs and ignores SIGTERM), tree TOKEN (leaves a
// grandchild), eat N (holds N MiB of memory) or samples TEXT -samples-file=PATH. It returns the exit code.
func ProbeMain(args []string) int {
	if len(args) == 0 {
		return 2
	}
	arg := ""
	if len(args) > 1 {
		arg = args[1]
	}
	switch args[0] {
	case "facts":
		return print(facts())
	case "say":
		fmt.Fprintln(os.Stderr, "log: "+arg)
		return print(line{Type: "say", Text: arg})
	case "exit":
		n, _ := strconv.Atoi(arg)
		return n
	case "eat":
		n, _ := strconv.Atoi(arg)
		return eat(n)
	case "quiet":
		time.Sleep(hang)
	case "deaf":
		signal.Ignore(unix.SIGTERM)
		fallthrough
	case "hang":
		print(line{Type: "ready"})
		time.Sleep(hang)
	case "tree":
		return tree(arg)
	case "samples":
		return samples(arg, args[2:])
	}
	return 2
}

func print[T line | Facts](v T) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 1
	}
	fmt.Println(string(b))
	return 0
}

// eat touches every page, so that the memory is really there.
func eat(mib int) int {
	b := make([]byte, mib<<20)
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
	return int(b[0]) - 1
}

// tree leaves a grandchild in a session of its own, out of reach of the driver's process group.
func tree(token string) int {
	cmd := exec.Command("/proc/self/exe", ProbeArg, "quiet", token)
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // it holds the pipes
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	print(line{Type: "ready"})
	time.Sleep(hang)
	return 0
}

func samples(text string, rest []string) int {
	for _, a := range rest {
		if path, ok := strings.CutPrefix(a, "-samples-file="); ok {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			return 0
		}
	}
	return 2
}

func facts() Facts {
	f := Facts{Type: "facts", Env: os.Environ(), Congestion: congestion()}
	ifs, _ := net.Interfaces()
	for _, i := range ifs {
		if i.Flags&net.FlagUp != 0 {
			f.Up = append(f.Up, i.Name)
		}
	}
	// 192.0.2.1 is reserved for documentation (RFC 5737); UDP dialling only looks up a route and sends nothing.
	if c, err := net.Dial("udp", "192.0.2.1:9"); err != nil {
		f.Outside = err.Error()
	} else {
		_ = c.Close()
	}
	if n, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		f.Nice = 20 - n // the system call answers 20 - nice, getpriority(2)
	}
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		for n := 0; len(f.Affinity) < set.Count(); n++ {
			if set.IsSet(n) {
				f.Affinity = append(f.Affinity, n)
			}
		}
	}
	f.CapEff = capEff()
	if err := loDown(); err != nil {
		f.LinkChange = err.Error()
	}
	return f
}

// congestion asks a connected TCP socket, as a driver does.
func congestion() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = l.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err.Error()
	}
	name := ""
	ctlErr := raw.Control(func(fd uintptr) { name, err = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION) })
	if err = errors.Join(err, ctlErr); err != nil {
		return err.Error()
	}
	return strings.TrimRight(name, "\x00")
}

func capEff() string {
	b, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(b), "CapEff:\t")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// loDown tries what no driver may be able to do.
func loDown() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(0)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}
