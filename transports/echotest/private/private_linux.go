// Package private runs a program again inside user and network namespaces of its own, where fixed source ports are free, nothing
// outside is reachable and no other test can interfere. It needs no root.
package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Command returns the running program with other arguments, to be started in a private network with its loopback down. It ends
// with its parent, and a cancelled ctx sends it SIGTERM.
func Command(ctx context.Context, args []string) *exec.Cmd {
	c := exec.CommandContext(ctx, "/proc/self/exe", args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	return c
}

// LoopbackUp brings up lo in the network of this process.
func LoopbackUp() error {
	return loopback(unix.SIOCSIFFLAGS, func(r *unix.Ifreq) { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING) })
}

// ErrShared says that this is the host's network, which tests leave as it is.
var ErrShared = errors.New("unsupported: no private network here")

// SetLoopbackMTU changes the MTU of lo, in bytes, for the tests that Tests runs in a private network.
func SetLoopbackMTU(mtu int) error {
	if os.Getenv(marker) == "" {
		return ErrShared
	}
	return loopback(unix.SIOCSIFMTU, func(r *unix.Ifreq) { r.SetUint32(uint32(mtu)) })
}

// loopback makes one request of the kernel about lo.
func loopback(request uint, fill func(*unix.Ifreq)) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written through it
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	fill(ifr)
	if err := unix.IoctlIfreq(fd, request, ifr); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}

// marker tells the inner test binary where it is.
const marker = "TRANSPORTBENCH_PRIVATE_NETWORK"

// Tests runs the tests of a package in a private network: call it from TestMain and pass the result to os.Exit.
// Where namespaces are forbidden the tests run on the host's loopback, and that is said.
func Tests(m *testing.M) int {
	if os.Getenv(marker) != "" {
		if err := LoopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}
	c := Command(context.Background(), os.Args[1:])
	c.Env = append(os.Environ(), marker+"=1")
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	}
	fmt.Fprintf(os.Stderr, "no private network (%v): the tests use the host's loopback and may meet taken ports\n", err)
	return m.Run()
}
