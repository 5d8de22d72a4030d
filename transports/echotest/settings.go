package echotest

import (
	"context"
	"fmt"
	"slices"

	"transportbench/transports/wire"
)

// testMTU fits every transport: 1,400 B of UDP payload, or of a nominal RakNet packet.
const testMTU = 1400

// checkSettings compares what hello says with what was asked for and with what the process was given.
func (s *session) checkSettings(ctx context.Context) {
	s.check("settings", func() error {
		cfg := s.config(wire.SuiteSingle, wire.APISend)
		cfg.Window, cfg.MTU, cfg.Workers, cfg.RcvBuf, cfg.SndBuf = 7, testMTU, 2, 128<<10, 64<<10
		p, err := s.run(ctx, cfg, nil)
		if err != nil {
			return err
		}
		if err := endedWell(p); err != nil {
			return err
		}
		return bothSides(p, func(side string, set wire.Settings) error { return asAsked(side, set, cfg) })
	})
	s.check("settings-connected", func() error {
		cfg := s.config(wire.SuiteSingle, wire.APISend)
		p, err := s.run(ctx, cfg, nil)
		if err != nil {
			return err
		}
		c, ok := find[wire.Connected](p.client.records)
		if !ok || c.Settings == nil || c.Settings.RcvBufGranted <= 0 || c.Settings.SndBufGranted <= 0 {
			return want("a connected record with the granted buffers of a connected socket", "%+v", c.Settings)
		}
		return nil
	})
	s.check("affinity", func() error { return s.checkAffinity(ctx) })
	if s.hasSuite(wire.SuiteConcurrent) {
		s.check("settings-listeners", func() error {
			p, err := s.run(ctx, s.config(wire.SuiteConcurrent, wire.APISend), nil)
			if err != nil {
				return err
			}
			if hello, _ := find[wire.Hello](p.server.records); hello.Settings.Listeners != p.cfg.Listeners {
				return want(fmt.Sprintf("listeners %d in the server's hello", p.cfg.Listeners), "%d", hello.Settings.Listeners)
			}
			return nil
		})
	}
}

func bothSides(p pair, f func(side string, set wire.Settings) error) error {
	for _, side := range []struct {
		name string
		out  output
	}{{"client", p.client}, {"server", p.server}} {
		hello, ok := find[wire.Hello](side.out.records)
		if !ok {
			return want(side.name+" hello record", "none")
		}
		if err := f(side.name, hello.Settings); err != nil {
			return err
		}
	}
	return nil
}

func asAsked(side string, set wire.Settings, cfg wire.Config) error {
	for _, f := range []struct {
		field     string
		got, want int
	}{
		{"window", set.Window, cfg.Window}, {"workers", set.Workers, cfg.Workers},
		{"rcvbuf_requested", set.RcvBufRequested, cfg.RcvBuf}, {"sndbuf_requested", set.SndBufRequested, cfg.SndBuf},
	} {
		if f.got != f.want {
			return want(fmt.Sprintf("%s %s %d, as asked", side, f.field, f.want), "%d", f.got)
		}
	}
	switch {
	case set.MTU != 0 && set.MTU != cfg.MTU:
		return want(fmt.Sprintf("%s mtu %d, or none where it does not apply", side, cfg.MTU), "%d", set.MTU)
	case set.API != cfg.API || set.Policy != cfg.Policy:
		return want(fmt.Sprintf("%s api %s, policy %s", side, cfg.API, cfg.Policy), "%s, %s", set.API, set.Policy)
	case set.Threads < 1 || set.NoFile < 1 || len(set.Affinity) == 0:
		return want(side+" threads, nofile and affinity as they are", "%d, %d, %v", set.Threads, set.NoFile, set.Affinity)
	case set.GOMAXPROCS != 0 && set.GOMAXPROCS != cfg.Workers:
		return want(fmt.Sprintf("%s gomaxprocs %d, set explicitly", side, cfg.Workers), "%d", set.GOMAXPROCS)
	}
	return nil
}

// checkAffinity pins a client to one CPU: its hello must say so, and one CPU means one worker.
func (s *session) checkAffinity(ctx context.Context) error {
	cpus, err := allowedCPUs()
	if err != nil {
		return err
	}
	one := cpus[len(cpus)-1:]
	cfg := s.config(wire.SuiteSingle, wire.APISend)
	server, addr, err := s.startServer(ctx, cfg, false)
	if err != nil {
		return err
	}
	defer server.kill()
	cfg.Role, cfg.Addr = wire.RoleClient, addr
	p, err := s.start(ctx, invocation{role: wire.RoleClient, args: cfg.Args(), cpus: one, limit: cfg.Deadline + killMargin})
	if err != nil {
		return err
	}
	out := p.wait()
	stop(server)
	hello, ok := find[wire.Hello](out.records)
	switch {
	case !ok || out.exit != wire.ExitOK:
		return want("a run on one CPU", "%s", out.how())
	case !slices.Equal(hello.Settings.Affinity, one):
		return want(fmt.Sprintf("affinity %v, as set", one), "%v", hello.Settings.Affinity)
	case hello.Settings.Workers != 1:
		return want("workers 1 = min(4, CPUs of the process)", "%d", hello.Settings.Workers)
	}
	return nil
}
