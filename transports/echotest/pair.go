package echotest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"transportbench/transports/wire"
)

const (
	clientDeadline = 10 * time.Second
	largeDeadline  = 30 * time.Second // of the largest payload a driver takes
	readyWait      = 10 * time.Second
	stopWait       = 5 * time.Second // SIGTERM to SIGKILL, as the runner has it
	killMargin     = 5 * time.Second // a process may outlive its own deadline by so much before it is killed
)

// pair is one server and one client with what both left behind.
type pair struct {
	server, client output
	cfg            wire.Config // of the client
	began, ended   int64       // CLOCK_MONOTONIC around the client, ns; 0: unknown
	stopped        time.Duration
}

// config is the run that most checks use: small, but with full windows.
func (s *session) config(suite, api string) wire.Config {
	c := wire.Default()
	c.Suite, c.API, c.Seed, c.Deadline = suite, api, 1, clientDeadline
	c.Payload = min(800, s.maxPayload())
	c.Messages, c.Warmup, c.Samples, c.Window = 400, 5, 20, 64
	switch suite {
	case wire.SuiteSparse:
		c.Messages, c.Samples = 100, 200
	case wire.SuiteConcurrent:
		c.Warmup = 0
	case wire.SuiteLoaded:
		c.Samples = 0
	}
	if suite == wire.SuiteConcurrent || suite == wire.SuiteLoaded {
		c.Connections, c.Listeners, c.Messages, c.Window = 8, 4, 100, 16
		if m := s.describe.Limits.MaxConnections; m > 0 {
			c.Connections = min(c.Connections, m)
		}
	}
	return c
}

func (s *session) maxPayload() int {
	if m := s.describe.Limits.MaxPayload; m > 0 {
		return m
	}
	return 64 << 10
}

// rounds is how many messages one run exchanges on all connections.
func rounds(c wire.Config) int64 { return int64(c.Connections) * int64(c.Warmup+c.Samples+c.Messages) }

// freePort finds a port of 127.0.0.1 that is free for streams and datagrams. Another process may take it before the driver does: then the
// driver's error says so.
func freePort() (netip.AddrPort, error) {
	for range 50 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("free port: %w", err)
		}
		addr := l.Addr().(*net.TCPAddr).AddrPort()
		u, uerr := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(addr))
		_ = l.Close()
		if uerr == nil {
			_ = u.Close()
			return addr, nil
		}
	}
	return netip.AddrPort{}, fmt.Errorf("free port: none is free for both TCP and UDP")
}

// startServer starts the server of cfg and waits until it is ready.
func (s *session) startServer(ctx context.Context, cfg wire.Config, openStdin bool) (*process, netip.AddrPort, error) {
	addr, err := freePort()
	if err != nil {
		return nil, addr, err
	}
	cfg.Role, cfg.Addr, cfg.SamplesFile = wire.RoleServer, addr, ""
	cfg.Deadline += killMargin
	p, err := s.start(ctx, invocation{role: wire.RoleServer, args: cfg.Args(), openStdin: openStdin, limit: cfg.Deadline + 2*killMargin})
	if err != nil {
		return nil, addr, err
	}
	select {
	case r := <-p.ready:
		if r.Addr != addr.String() {
			p.kill()
			p.wait()
			return nil, addr, want("ready record with the address "+addr.String(), "%q", r.Addr)
		}
		return p, addr, nil
	case <-p.ended:
		return nil, addr, want("a server that gets ready", "%s", p.out.how())
	case <-time.After(readyWait):
		p.kill()
		p.wait()
		return nil, addr, want("a ready record within "+readyWait.String(), "none")
	}
}

// stop ends a server with SIGTERM and returns what it left and how long that took; after stopWait it is killed.
func stop(p *process) (output, time.Duration) {
	began := time.Now()
	kill := time.AfterFunc(stopWait, func() {
		p.mu.Lock()
		p.out.killed = true
		p.mu.Unlock()
		p.kill()
	})
	defer kill.Stop()
	if err := terminate(p.cmd); err != nil {
		p.kill()
	}
	out := p.wait()
	return out, time.Since(began)
}

// client runs the client of cfg to its end.
func (s *session) client(ctx context.Context, cfg wire.Config) (output, error) {
	cfg.Role, cfg.Fault, cfg.FaultAt = wire.RoleClient, wire.FaultNone, 0
	p, err := s.start(ctx, invocation{role: wire.RoleClient, args: cfg.Args(), limit: cfg.Deadline + killMargin})
	if err != nil {
		return output{}, err
	}
	return p.wait(), nil
}

// run starts a server, runs a client against it, or against what via puts between them, and stops the server.
func (s *session) run(ctx context.Context, cfg wire.Config, via func(netip.AddrPort) (netip.AddrPort, error)) (pair, error) {
	server, addr, err := s.startServer(ctx, cfg, false)
	if err != nil {
		return pair{}, err
	}
	defer server.kill()
	if via != nil {
		if addr, err = via(addr); err != nil {
			return pair{}, err
		}
	}
	cfg.Addr = addr
	p := pair{cfg: cfg}
	p.began, _ = monotonicNS()
	if p.client, err = s.client(ctx, cfg); err != nil {
		return pair{}, err
	}
	p.ended, _ = monotonicNS()
	p.server, p.stopped = stop(server)
	return p, nil
}

// samplesPath returns a new path for a samples file.
func (s *session) samplesPath() string {
	s.files++
	return filepath.Join(s.opt.Dir, fmt.Sprintf("samples-%d.rtt", s.files))
}
