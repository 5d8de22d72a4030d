// Package drivertest runs one side of a built driver from a test, as bench would.
package drivertest

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

// RunLimit ends a process that hangs; no test waits for it.
const RunLimit = 60 * time.Second

// Server is a running driver in the server role.
type Server struct {
	Addr   netip.AddrPort
	PID    int
	cmd    *exec.Cmd
	stream *wire.Stream
	log    bytes.Buffer
}

// Serve starts a server on a free port; it ends with the test.
func Serve(t *testing.T, path string, cfg wire.Config) *Server {
	t.Helper()
	cfg.Role, cfg.Addr, cfg.SamplesFile = wire.RoleServer, netip.MustParseAddrPort("127.0.0.1:0"), ""
	s := &Server{cmd: exec.CommandContext(t.Context(), path, cfg.Args()...)}
	s.cmd.Env, s.cmd.Stderr = []string{}, &s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.PID, s.stream = s.cmd.Process.Pid, wire.NewStream(out, wire.RoleServer)
	s.Addr = netip.MustParseAddrPort(next[wire.Ready](t, s.stream).Addr)
	return s
}

// Stop ends a server with SIGTERM and returns its last record.
func (s *Server) Stop(t *testing.T) wire.Done {
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

// Measure runs a client to its end, which must be a good one: everything that was to be sent is verified.
func Measure(t *testing.T, path string, cfg wire.Config, addr netip.AddrPort) wire.Result {
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
	r := next[wire.Result](t, wire.NewStream(bytes.NewReader(out), wire.RoleClient))
	if want := int64(cfg.Connections * (cfg.Warmup + cfg.Samples + cfg.Messages)); r.Verified != want {
		t.Errorf("verified %d of %d", r.Verified, want)
	}
	return r
}

// Wait returns how a server ended by itself.
func (s *Server) Wait() error { return s.cmd.Wait() }

// Next reads records of a server until one of type R comes.
func Next[R wire.Record](t *testing.T, s *Server) R {
	t.Helper()
	return next[R](t, s.stream)
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
