package vm

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// GuestArg is the hidden last argument of the machine's init, which has to call GuestMain.
const GuestArg = "__guest"

const (
	portName     = "transportbench" // of the serial port, as QEMU calls it
	portPatience = 30 * time.Second // for the kernel to show the port after its driver was loaded
	aliveEvery   = 5 * time.Second
	byePatience  = 60 * time.Second // for the host's last word
	guestNoFile  = 16384            // hard limit of open files: what launch raises its soft limit to at most
)

// GuestMain is PID 1 of the machine. It never returns: it ends with the machine. Anywhere else it only says so, for what
// follows would restart a machine that is not ours.
func GuestMain() {
	if os.Getpid() != 1 || !exists(jobFile) {
		fmt.Fprintln(os.Stderr, "init: not started by the kernel of a virtual machine")
		os.Exit(1)
	}
	if err := guestMain(); err != nil {
		fmt.Fprintln(os.Stderr, "init:", err)
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // QEMU runs with -no-reboot, so this is the end with every kind of machine
	os.Exit(1)
}

func guestMain() error {
	if err := mounts(); err != nil {
		return err
	}
	var b boot
	raw, err := os.ReadFile(jobFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return fmt.Errorf("%s: %w", jobFile, err)
	}
	if err := settle(b); err != nil {
		return err
	}
	port, err := openPort()
	if err != nil {
		return err
	}
	return serve(port, b)
}

func mounts() error {
	for _, m := range []struct {
		fs, at string
		flags  uintptr
		opt    string
	}{
		{"proc", "/proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
		{"sysfs", "/sys", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
		{"devtmpfs", "/dev", unix.MS_NOSUID, ""},
		{"tmpfs", "/tmp", unix.MS_NOSUID | unix.MS_NODEV, "mode=1777,size=75%"},
	} {
		if err := unix.Mount(m.fs, m.at, m.fs, m.flags, m.opt); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	return nil
}

// settle loads the modules and makes the machine like one that measures.
func settle(b boot) error {
	for _, file := range b.Modules {
		if err := loadModule(file); err != nil {
			return fmt.Errorf("module %s: %w", file, err)
		}
	}
	if time.Since(b.Now).Abs() > time.Hour {
		tv := unix.NsecToTimeval(b.Now.UnixNano())
		if err := unix.Settimeofday(&tv); err != nil {
			return fmt.Errorf("clock: %w", err)
		}
	}
	if err := unix.Sethostname([]byte("vm")); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	limit := unix.Rlimit{Cur: 1024, Max: guestNoFile}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("open files limit: %w", err)
	}
	return nil
}

func loadModule(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// openPort waits for the serial port of our name: its driver learns the name after it was loaded.
func openPort() (*os.File, error) {
	for deadline := time.Now().Add(portPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		names, err := filepath.Glob("/sys/class/virtio-ports/*/name")
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if b, err := os.ReadFile(n); err == nil && strings.TrimSpace(string(b)) == portName {
				return os.OpenFile("/dev/"+filepath.Base(filepath.Dir(n)), os.O_RDWR, 0)
			}
		}
	}
	return nil, fmt.Errorf("virtio port %s: did not appear within %s", portName, portPatience)
}

// wire serialises the frames of several goroutines.
type wire struct {
	mu   sync.Mutex
	port io.Writer
}

func (w *wire) send(k frameKind, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return writeFrame(w.port, k, payload)
}

func (w *wire) sendJSON(k frameKind, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.send(k, b)
}

// Write takes whole frames, so that frameWriter works on a shared port.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.port.Write(p)
}

// serve runs the job and sends what comes of it.
func serve(port *os.File, b boot) error {
	w := &wire{port: port}
	if err := w.sendJSON(frameHello, greeting()); err != nil {
		return fmt.Errorf("port: %w", err)
	}
	go w.beat() // ends with the machine
	heard := make(chan frameKind)
	go listen(port, heard) // ends with the machine
	end := runJob(w, b.Job, heard)
	if b.Collect != "" {
		tar := bufio.NewWriterSize(frameWriter{w, frameTar}, maxFrame)
		if err := errors.Join(pack(tar, b.Collect), tar.Flush()); err != nil && end.Error == "" {
			end.Error = err.Error()
		}
	}
	if err := w.sendJSON(frameExit, end); err != nil {
		return fmt.Errorf("port: %w", err)
	}
	patience := time.After(byePatience)
	for {
		select {
		case k := <-heard:
			if k == frameBye {
				return nil
			}
		case <-patience:
			return errors.New("port: the host said no last word")
		}
	}
}

func (w *wire) beat() {
	for range time.Tick(aliveEvery) {
		if w.send(frameAlive, nil) != nil {
			return
		}
	}
}

// listen passes on what the host says.
func listen(port io.Reader, heard chan<- frameKind) {
	buf := make([]byte, maxFrame)
	for {
		k, _, err := readFrame(port, buf)
		if err != nil {
			fmt.Fprintln(os.Stderr, "init: port:", err)
			return
		}
		heard <- k
	}
}

func greeting() hello {
	var u unix.Utsname
	var ts unix.Timespec
	_ = unix.Uname(&u)
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return hello{Release: unix.ByteSliceToString(u.Release[:]), UptimeNS: ts.Nano()}
}
