package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// isolatedArg marks a bench that already is inside a private network of its own.
const isolatedArg = "--in-private-network"

// isolated runs the current command line again in new user and network namespaces, where fixed source ports are free and
// nothing outside is reachable, and returns its outcome.
func isolated(cmd *cobra.Command, args []string) error {
	c := exec.CommandContext(cmd.Context(), "/proc/self/exe", append(args, isolatedArg)...)
	c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fail(exit.ExitCode(), errTold)
	}
	if err != nil {
		return fail(ExitEnvironment, fmt.Errorf("private network: %w; see bench doctor", err))
	}
	return nil
}

// loopbackUp brings up lo in the private network of this process.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}
