package vm

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// guestSays plays a guest that sends raw bytes and hangs up, and returns how the host's session ends.
func guestSays(t *testing.T, raw []byte, out string) (*session, exit, string, error) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	end := func(fd int) *net.UnixConn {
		f := os.NewFile(uintptr(fd), "port")
		defer f.Close()
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		return c.(*net.UnixConn)
	}
	host, guest := end(fds[0]), end(fds[1])
	defer host.Close()
	go func() { // ends when the host has read everything or closed
		guest.Write(raw)
		guest.CloseWrite()
		io.Copy(io.Discard, guest)
		guest.Close()
	}()
	var stdout bytes.Buffer
	s := &session{
		e: &emulator{port: host, console: &shortLog{}}, m: &Machine{Stdout: &stdout}, began: time.Now(), patience: time.Minute,
		res: Result{Facts: Facts{Release: "6.1.0-test"}},
	}
	x, err := s.follow(out)
	return s, x, stdout.String(), err
}

type frame struct {
	kind    frameKind
	payload string
}

func frames(fs ...frame) []byte {
	var b bytes.Buffer
	for _, f := range fs {
		_ = writeFrame(&b, f.kind, []byte(f.payload))
	}
	return b.Bytes()
}

var (
	greetingFrame = frame{frameHello, `{"release":"6.1.0-test","uptime_ns":5}`}
	exitFrame     = frame{frameExit, `{"code":3}`}
)

func TestSession(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	archive := string(tarOf(t, file("runs.ndjson")))
	raw := frames(greetingFrame, frame{frameStdout, "hi"}, frame{frameAlive, ""}, frame{frameTar, archive[:100]}, frame{frameTar, archive[100:]}, exitFrame)
	s, x, stdout, err := guestSays(t, raw, out)
	if err != nil || x.Code != 3 || stdout != "hi" || s.res.Kernel != 5 {
		t.Errorf("ended %+v with stdout %q: %v", x, stdout, err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "runs.ndjson")); string(b) != "data" {
		t.Errorf("results: %q %v", b, err)
	}
}

// TestSessionWithBrokenGuests wants an error for each, and nothing unpacked outside the folder of the results.
func TestSessionWithBrokenGuests(t *testing.T) {
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"silence":            {nil, "EOF"},
		"noise":              {[]byte(strings.Repeat("\x00\xff", 100)), "malformed frame"},
		"no greeting":        {frames(frame{frameStdout, "x"}), "out of turn"},
		"two greetings":      {frames(greetingFrame, greetingFrame), "out of turn"},
		"another kernel":     {frames(frame{frameHello, `{"release":"5.0"}`}), "5.0"},
		"greeting is noise":  {frames(frame{frameHello, "{"}), "greeting"},
		"long greeting":      {frames(frame{frameHello, strings.Repeat(" ", maxGreeting+1)}), "greeting of"},
		"ends early":         {frames(greetingFrame, frame{frameStdout, "x"}), "EOF"},
		"cut frame":          {append(frames(greetingFrame), "o\x09\x00\x00\x00abc"...), "cut short"},
		"frame of the host":  {frames(greetingFrame, frame{frameStop, ""}), "not a guest's"},
		"exit is noise":      {frames(greetingFrame, frame{frameExit, "nine"}), "exit"},
		"exit code":          {frames(greetingFrame, frame{frameExit, `{"code":900}`}), "exit code 900"},
		"archive is noise":   {frames(greetingFrame, frame{frameTar, strings.Repeat("x", 2048)}, exitFrame), "results"},
		"archive leads away": {frames(greetingFrame, frame{frameTar, string(tarOf(t, file("../evil")))}, exitFrame), "leads out"},
		"archive is cut":     {frames(greetingFrame, frame{frameTar, string(tarOf(t, file("a"))[:514])}, exitFrame), "results"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			_, _, _, err := guestSays(t, c.raw, filepath.Join(top, "out"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			entries, _ := os.ReadDir(top)
			if len(entries) > 1 || len(entries) == 1 && entries[0].Name() != "out" {
				t.Errorf("left %v", entries)
			}
		})
	}
}

// TestSessionGivesUpOnAGuestThatHangs is what a KVM that only pretends to work comes to.
func TestSessionGivesUpOnAGuestThatHangs(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[1])
	f := os.NewFile(uintptr(fds[0]), "port")
	c, err := net.FileConn(f)
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := &session{e: &emulator{port: c.(*net.UnixConn)}, m: &Machine{}, began: time.Now().Add(-time.Minute), patience: time.Minute}
	if _, err := s.follow(""); err == nil || !strings.Contains(err.Error(), "hangs") {
		t.Errorf("error %v", err)
	}
}

func TestAccelerators(t *testing.T) {
	if got := accelerators(AccelTCG); len(got) != 1 || got[0] != AccelTCG {
		t.Errorf("tcg tries %v", got)
	}
	if got := accelerators(AccelAuto); got[len(got)-1] != AccelTCG {
		t.Errorf("auto ends with %v", got)
	}
}

// TestSessionAnswersNobodyAsked refuses results where the caller wants none.
func TestSessionAnswersNobodyAsked(t *testing.T) {
	_, _, _, err := guestSays(t, frames(greetingFrame, frame{frameTar, string(tarOf(t, file("a")))}, exitFrame), "")
	if !errors.Is(err, errResults) {
		t.Errorf("error %v", err)
	}
}

func TestShortLogKeepsBothEnds(t *testing.T) {
	var l shortLog
	io.WriteString(&l, "begin")
	for range 3 {
		l.Write(bytes.Repeat([]byte("x"), consoleKeep))
	}
	io.WriteString(&l, "end")
	got := l.bytes()
	if !bytes.HasPrefix(got, []byte("begin")) || !bytes.HasSuffix(got, []byte("xend")) || !bytes.Contains(got, []byte("bytes left out")) || len(got) > 2*consoleKeep+100 {
		t.Errorf("kept %d bytes", len(got))
	}
}

func TestTelling(t *testing.T) {
	for console, want := range map[string]string{
		"":                              "",
		"a\nb\n":                        "b",
		"x\n[ 1.0] Kernel panic - y\nz": "[ 1.0] Kernel panic - y",
		"init: no port\nrestarting\n":   "init: no port",
	} {
		if got := telling(console); got != want {
			t.Errorf("%q tells %q, want %q", console, got, want)
		}
	}
}
