package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"transportbench/pipeline/sandbox"
)

// engineArg makes the test program look for an engine and say what it found: the library remembers the first answer of a process.
const engineArg = "__engine"

func engineMain() int {
	_, err := sandbox.FindEngine(context.Background())
	fmt.Println(errors.As(err, new(*sandbox.UnsupportedError)), err)
	return 0
}

// TestEngineRefusals: one line with the reason and the fix for every way in which an engine cannot be used.
func TestEngineRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		socket  func(t *testing.T, path string)
		user    uint32
		want    []string
		address string
	}{
		{name: "missing", socket: func(*testing.T, string) {}, want: []string{"none is here", "apt-get install docker.io"}},
		{name: "nobody listens", socket: deadSocket, want: []string{"nobody listens", "systemctl start docker"}},
		{name: "too old", socket: oldEngine("1.30"), want: []string{"too old, it speaks API 1.30", "upgrade it"}},
		{name: "another system", socket: oldEngine("1.44", "windows"), want: []string{"runs windows containers", "Linux containers"}},
		{name: "no engine", socket: noEngine, want: []string{"does not answer as one", "docker version"}},
		{name: "no permission", socket: closedSocket, user: 65534, want: []string{"no permission", "usermod -aG docker"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.user != 0 && os.Geteuid() != 0 {
				t.Skip("unsupported: only root can become another user")
			}
			dir, err := os.MkdirTemp("", "engine-") // short: a socket's path has 108 bytes at most, and others must reach it
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "e.sock")
			c.socket(t, path)
			got := findEngine(t, dir, "unix://"+path, c.user)
			if !strings.HasPrefix(got, "true docker engine: ") || strings.Count(got, "\n") != 1 {
				t.Errorf("found %q: want one line of an *UnsupportedError", got)
			}
			for _, w := range append(c.want, "--runtime local") {
				if !strings.Contains(got, w) {
					t.Errorf("found %q: want %q in it", got, w)
				}
			}
		})
	}
}

// findEngine runs the test program, copied to where another user can start it.
func findEngine(t *testing.T, dir, host string, user uint32) string {
	t.Helper()
	program, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "test")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, engineArg)
	cmd.Dir, cmd.Env = "/", []string{"DOCKER_HOST=" + host, "HOME=/"}
	if user != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func deadSocket(t *testing.T, path string) {
	l := listen(t, path)
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func listen(t *testing.T, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closedSocket(t *testing.T, path string) {
	serve(t, path, http.NotFoundHandler())
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func noEngine(t *testing.T, path string) { serve(t, path, http.NotFoundHandler()) }

// oldEngine answers a ping as an engine of that API version and system, and refuses anything newer as engines do.
func oldEngine(api string, system ...string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		serve(t, path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", api)
			w.Header().Set("Ostype", append(system, "linux")[0])
			if !strings.HasSuffix(r.URL.Path, "/_ping") {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"message":"client version is too new. Maximum supported API version is %s"}`, api)
			}
		}))
	}
}

func serve(t *testing.T, path string, h http.Handler) {
	t.Helper()
	s := &http.Server{Handler: h}
	l := listen(t, path)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
}
