package echotest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"transportbench/transports/wire"
)

// deadline is what the clients of the deadline checks get.
const deadline = time.Second

// deadlineGrace is how long after its deadline a process may need to end.
const deadlineGrace = 3 * time.Second

// checkLifecycle starts and stops servers without any client.
func (s *session) checkLifecycle(ctx context.Context) {
	idle := s.config(wire.SuiteSingle, wire.APISend)
	s.check("sigterm", func() error {
		p, _, err := s.startServer(ctx, idle, false)
		if err != nil {
			return err
		}
		out, _ := stop(p)
		return stoppedWell(out, "SIGTERM")
	})
	s.check("eof-ignored", func() error {
		// Its standard input is at its end from the start; a client proves that it serves nevertheless.
		return s.runs(ctx, idle, nil)
	})
	s.check("stop-on-eof", func() error {
		cfg := idle
		cfg.StopOnEOF = true
		p, _, err := s.startServer(ctx, cfg, true)
		if err != nil {
			return err
		}
		defer p.kill()
		if err := p.stdin.Close(); err != nil {
			return fmt.Errorf("driver input: %w", err)
		}
		select {
		case <-p.ended:
			return stoppedWell(p.wait(), "the end of standard input")
		case <-time.After(stopWait):
			return want("a server that stops at the end of standard input within "+stopWait.String(), "one that runs on")
		}
	})
}

func stoppedWell(out output, after string) error {
	d, ok := find[wire.Done](out.records)
	switch {
	case out.killed || out.exit != wire.ExitOK || out.signal != "":
		return want("server exit 0 after "+after+" within "+stopWait.String(), "%s", out.how())
	case len(out.faults) > 0:
		return want("hello, ready, done", "%v", out.faults[0])
	case !ok || d.Connections != 0 || d.Messages != 0:
		return want("a done record with no connections and messages", "%+v", d)
	}
	return nil
}

// checkDeadlines leaves clients and a server alone with their deadline.
func (s *session) checkDeadlines(ctx context.Context) {
	s.check("deadline-silent-server", func() error {
		silent, addr, err := newSilence()
		if err != nil {
			return err
		}
		defer silent.close()
		return s.clientGivesUp(ctx, addr)
	})
	s.check("deadline-no-server", func() error {
		addr, err := freePort()
		if err != nil {
			return err
		}
		return s.clientGivesUp(ctx, addr)
	})
	s.check("deadline-server", func() error {
		addr, err := freePort()
		if err != nil {
			return err
		}
		cfg := s.config(wire.SuiteSingle, wire.APISend)
		cfg.Role, cfg.Addr, cfg.Deadline = wire.RoleServer, addr, deadline
		return s.givesUp(ctx, wire.RoleServer, cfg)
	})
}

func (s *session) clientGivesUp(ctx context.Context, addr netip.AddrPort) error {
	cfg := s.config(wire.SuiteSingle, wire.APISend)
	cfg.Role, cfg.Addr, cfg.Deadline = wire.RoleClient, addr, deadline
	return s.givesUp(ctx, wire.RoleClient, cfg)
}

// givesUp wants exit 1 by the deadline; an unreliable client may also report that everything was lost.
func (s *session) givesUp(ctx context.Context, role string, cfg wire.Config) error {
	p, err := s.start(ctx, invocation{role: role, args: cfg.Args(), limit: cfg.Deadline + deadlineGrace})
	if err != nil {
		return err
	}
	out := p.wait()
	r, measured := find[wire.Result](out.records)
	if !s.describe.Reliable && measured && out.exit == wire.ExitOK && r.Verified == 0 {
		return nil
	}
	if out.killed || out.exit != wire.ExitFailed {
		return want(fmt.Sprintf("exit 1 within %v of the deadline of %v", deadlineGrace, deadline), "%s", out.how())
	}
	return nil
}

// silence accepts connections and datagrams and never answers.
type silence struct {
	tcp net.Listener
	udp *net.UDPConn
}

func newSilence() (silence, netip.AddrPort, error) {
	addr, err := freePort()
	if err != nil {
		return silence{}, addr, err
	}
	tcp, err := net.Listen("tcp4", addr.String()) // the kernel accepts; nobody reads
	if err != nil {
		return silence{}, addr, fmt.Errorf("silent server: %w", err)
	}
	udp, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(addr))
	if err != nil {
		_ = tcp.Close()
		return silence{}, addr, fmt.Errorf("silent server: %w", err)
	}
	return silence{tcp, udp}, addr, nil
}

func (s silence) close() {
	_ = s.tcp.Close()
	_ = s.udp.Close()
}
