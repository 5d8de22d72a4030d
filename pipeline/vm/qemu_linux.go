package vm

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const qemu = "qemu-system-x86_64"

// portFD is the descriptor of the serial port's socket in QEMU, the first of exec.Cmd.ExtraFiles.
const portFD = 3

// arguments describe a machine with nothing but processors, memory, a console and one serial port: no network, no disk.
func (m *Machine) arguments(accel, initrd string) []string {
	cpu, how := "host", accel
	if accel == AccelTCG {
		cpu, how = "max", "tcg,thread=multi"
	}
	return []string{
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-nic", "none",
		"-machine", "q35", "-accel", how, "-cpu", cpu, "-smp", strconv.Itoa(m.CPUs), "-m", strconv.Itoa(m.MemoryMiB),
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-device", "virtio-serial-pci", "-chardev", "socket,id=port,fd=" + strconv.Itoa(portFD),
		"-device", "virtserialport,chardev=port,name=" + portName,
		"-kernel", m.Kernel.Image, "-initrd", initrd,
		"-append", commandLine(accel) + " -- " + GuestArg,
	}
}

// commandLine of the kernel: any oops ends the machine. Under emulation what guards against speculation costs a third of the
// time and protects nothing, and timers that come late on a busy host must not look broken.
func commandLine(accel string) string {
	line := "console=ttyS0 quiet loglevel=4 panic=-1 oops=panic"
	if accel == AccelTCG {
		line += " mitigations=off no_timer_check"
	}
	return line
}

// emulator is a QEMU process that ends with this one.
type emulator struct {
	port    *net.UnixConn
	console *shortLog
	gone    chan struct{} // closed when QEMU has ended
	exit    error         // valid after gone
	kill    func()
}

// start runs QEMU. One locked thread starts it and waits for it: PR_SET_PDEATHSIG means the death of that thread.
func (m *Machine) start(accel, initrd string) (*emulator, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "port")
	defer theirs.Close()
	ours := os.NewFile(uintptr(fds[0]), "port")
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		return nil, err
	}
	port, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.New("port is no UNIX socket")
	}
	e := &emulator{port: port, console: &shortLog{}, gone: make(chan struct{})}
	cmd := exec.Command(qemu, m.arguments(accel, initrd)...)
	cmd.Stdout, cmd.Stderr = e.console, e.console
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go e.supervise(cmd, started) // ends with QEMU
	if err := <-started; err != nil {
		port.Close()
		return nil, err
	}
	e.kill = func() { _ = cmd.Process.Kill() }
	return e, nil
}

func (e *emulator) supervise(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err != nil {
		return
	}
	e.exit = cmd.Wait()
	close(e.gone)
}

// end waits for QEMU, killing it first where it is not about to end by itself.
func (e *emulator) end(kill bool) {
	if kill {
		e.kill()
	}
	<-e.gone
	e.port.Close()
}
