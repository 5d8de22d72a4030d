package enet

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"transportbench/transports/wire"
)

// runLimit ends a process that hangs; no test waits for it.
const runLimit = 60 * time.Second

// server is a running driver in the server role.
type server struct {
	addr   netip.AddrPort
	cmd    *exec.Cmd
	stream *wire.Stream
	log    bytes.Buffer
}

// serve starts a server on a free port.
func serve(t *testing.T, path string, cfg wire.Config) *server {
	t.Helper()
	cfg.Role, cfg.Addr, cfg.SamplesFile = wire.RoleServer, netip.MustParseAddrPort("127.0.0.1:0"), ""
	s := &server{cmd: exec.CommandContext(t.Context(), path, cfg.Args()...)}
	s.cmd.Env, s.cmd.Stderr = []string{}, &s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.stream = wire.NewStream(out, wire.RoleServer)
	s.addr = netip.MustParseAddrPort(next[wire.Ready](t, s.stream).Addr)
	return s
}

// stop ends a server with SIGTERM and returns its last record.
func (s *server) stop(t *testing.T) wire.Done {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	done := next[wire.Done](t, s.stream)
	if _, err := s.stream.Next(); err != io.EOF {
		t.Errorf("after the done record: %v", err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("server: %v: %s", err, s.log.String())
	}
	return done
}

// measure runs a client to its end, which must be a good one.
func measure(t *testing.T, path string, cfg wire.Config, addr netip.AddrPort) wire.Result {
	t.Helper()
	cfg.Role, cfg.Addr = wire.RoleClient, addr
	cmd := exec.CommandContext(t.Context(), path, cfg.Args()...)
	cmd.Env = []string{}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("client: %v: %s", err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return next[wire.Result](t, wire.NewStream(bytes.NewReader(out), wire.RoleClient))
}

// next reads records until one of type R comes.
func next[R wire.Record](t *testing.T, s *wire.Stream) R {
	t.Helper()
	for {
		rec, err := s.Next()
		if err != nil {
			t.Fatalf("driver output: %v", err)
		}
		if r, ok := rec.(R); ok {
			return r
		}
		if e, ok := rec.(wire.Error); ok {
			t.Fatalf("driver failed: %s", e.Message)
		}
	}
}
