package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// EngineError is a request that the container engine could not fulfil: its disk is full, it went away.
type EngineError struct {
	Doing string // what was asked of it
	Fix   string // what the user can do, may be empty
	Err   error
}

// Error is one line.
func (e *EngineError) Error() string {
	s := fmt.Sprintf("docker engine: %s: %s", e.Doing, strings.Join(strings.Fields(e.Err.Error()), " "))
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Unwrap returns the engine's answer.
func (e *EngineError) Unwrap() error { return e.Err }

// engineError explains an engine's refusal. Engines answer in text, so text is what there is to go by.
func engineError(doing string, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("no space left on device", "disk quota exceeded"):
		return &EngineError{doing, "its disk is full: make room (docker system df shows what uses it, docker image prune frees some)", err}
	case has("equested CPUs are not available", "cpuset"):
		return &UnsupportedError{
			What: "placement: the container engine may not use the planned CPUs (" + strings.Join(strings.Fields(text), " ") + ")",
			Fix:  "give the engine those CPUs (its cgroup's cpuset), or use --runtime local", Err: err,
		}
	case has("RLIMIT_NOFILE", "error setting rlimit"):
		return &UnsupportedError{
			What: fmt.Sprintf("open files limit: the container engine cannot give its containers %d", nofileCap),
			Fix:  "raise LimitNOFILE= of its service, or use --runtime local", Err: err,
		}
	case errors.Is(err, context.DeadlineExceeded):
		return &EngineError{doing, "it did not answer in time: see its log (journalctl -u docker) and the load of its machine", err}
	case has("connection refused", "Cannot connect to the Docker daemon", "EOF", "broken pipe", "connection reset", "no such file or directory: dial"):
		return &EngineError{doing, "it went away: start it again and go on with --resume DIR --retry-failed", err}
	}
	return &EngineError{doing, "", err}
}

// dialPatience is how long a socket may take to answer a connection.
const dialPatience = 5 * time.Second

// diagnoseEngine explains why the engine at host could not be used, by trying what a user would try.
func diagnoseEngine(ctx context.Context, host string, err error) error {
	var known *UnsupportedError
	if errors.As(err, &known) {
		return known
	}
	network, address, ok := hostAddress(host)
	if !ok {
		return &UnsupportedError{
			What: "docker engine: DOCKER_HOST " + host + " is of a kind that is not spoken here",
			Fix:  "want unix:///path or tcp://host:port (ssh: forward the socket with ssh -L and name that), or use --runtime local", Err: err,
		}
	}
	d := net.Dialer{Timeout: dialPatience}
	conn, dialErr := d.DialContext(ctx, network, address)
	if dialErr != nil {
		return unreachable(address, dialErr)
	}
	_ = conn.Close()
	return &UnsupportedError{
		What: "docker engine: what listens on " + address + " does not answer as one (" + strings.Join(strings.Fields(err.Error()), " ") + ")",
		Fix:  "check it with docker version, check DOCKER_HOST, or use --runtime local", Err: err,
	}
}

func unreachable(address string, err error) *UnsupportedError {
	u := &UnsupportedError{Err: err}
	switch {
	case errors.Is(err, fs.ErrPermission):
		u.What = "docker engine: no permission to use " + address
		u.Fix = "join its group (sudo usermod -aG docker $USER, then log in again), use a rootless engine with DOCKER_HOST, or use --runtime local"
	case errors.Is(err, fs.ErrNotExist):
		u.What = "docker engine: none is here (no socket " + address + ")"
		u.Fix = "install one and start it (Debian: apt-get install docker.io), name it with DOCKER_HOST, or use --runtime local"
	case errors.Is(err, unix.ECONNREFUSED):
		u.What = "docker engine: nobody listens on " + address
		u.Fix = "start it (systemctl start docker, or dockerd), or use --runtime local"
	default:
		u.What = fmt.Sprintf("docker engine: %s cannot be reached (%v)", address, err)
		u.Fix = "check DOCKER_HOST, or use --runtime local"
	}
	return u
}

// engineHost is where the engine is expected: where DOCKER_HOST says and nowhere else, or else the first usual socket that exists.
func engineHost() string {
	if host := os.Getenv(client.EnvOverrideHost); host != "" {
		return host
	}
	sockets := []string{"/var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		sockets = append(sockets, filepath.Join(dir, "docker.sock")) // rootless
	}
	for _, s := range sockets {
		if _, err := os.Stat(s); err == nil {
			return "unix://" + s
		}
	}
	return "unix://" + sockets[0]
}

// hostAddress takes a host apart as the client library does.
func hostAddress(host string) (network, address string, ok bool) {
	u, err := url.Parse(host)
	switch {
	case err != nil:
		return "", "", false
	case u.Scheme == "unix":
		return "unix", u.Path, true
	case u.Scheme == "tcp" || u.Scheme == "http" || u.Scheme == "https":
		return "tcp", u.Host, true
	}
	return "", "", false
}
