package echotest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"transportbench/transports/echotest/relay"
	"transportbench/transports/wire"
)

// badPath is the path that must change nothing for a reliable transport: 2 % lost, 2 % twice, 3 % overtaken; streams in arbitrary pieces.
func (s *session) badPath() relay.Impairment {
	return relay.Impairment{Seed: s.opt.Seed, DropPPM: 20_000, RepeatPPM: 20_000, HoldPPM: 30_000, Split: true}
}

// through runs cfg over a relay and returns what passed it. It fails when the client went around the relay.
func (s *session) through(ctx context.Context, cfg wire.Config, imp relay.Impairment) (p pair, st relay.Stats, err error) {
	var r *relay.Relay
	p, err = s.run(ctx, cfg, func(server netip.AddrPort) (netip.AddrPort, error) {
		var err error
		if r, err = relay.New(ctx, server, imp); err != nil {
			return netip.AddrPort{}, err
		}
		return r.Addr(), nil
	})
	if r != nil {
		st = r.Close()
	}
	if err == nil && st.Datagrams == 0 && st.Connections == 0 {
		err = want("traffic at the address given with -addr", "none: %s", p.client.how())
	}
	return p, st, err
}

// checkRelays sends every suite over the bad path.
func (s *session) checkRelays(ctx context.Context) {
	for _, suite := range s.opt.Suites {
		for _, api := range s.describe.APIs {
			s.check("relay/"+suite+"/"+api, func() error { return s.checkRelay(ctx, s.config(suite, api)) })
		}
	}
	s.check("relay/large-payload", func() error {
		cfg := s.config(wire.SuiteSingle, wire.APISend)
		cfg.Payload = min(4096, s.maxPayload())
		return s.checkRelay(ctx, cfg)
	})
}

func (s *session) checkRelay(ctx context.Context, cfg wire.Config) error {
	p, st, err := s.through(ctx, cfg, s.badPath())
	if err != nil {
		return err
	}
	err = endedWell(p)
	if err == nil {
		err = s.recordsOf(p)
	}
	if err == nil {
		err = s.resultOf(p)
	}
	if err == nil && s.describe.Reliable {
		err = s.doneOf(p)
	}
	var m *mismatch
	if errors.As(err, &m) {
		return want(m.expected, "%s (%s)", m.found, passed(st))
	}
	return err
}

func passed(st relay.Stats) string {
	return fmt.Sprintf("the path carried %d datagrams, dropped %d, repeated %d, held %d, and %d connections",
		st.Datagrams, st.Dropped, st.Repeated, st.Held, st.Connections)
}

// junkDeadline is short because a transport may give up on junk by not answering any more.
const junkDeadline = 5 * time.Second

// checkJunk mixes random datagrams, from the peer's and from a foreign address, and foreign connections into a run.
func (s *session) checkJunk(ctx context.Context) {
	for _, suite := range s.opt.Suites {
		if suite == wire.SuiteSparse || suite == wire.SuiteLoaded {
			continue
		}
		s.check("junk/"+suite, func() error {
			cfg := s.config(suite, wire.APISend)
			cfg.Deadline = junkDeadline
			p, _, err := s.through(ctx, cfg, relay.Impairment{Seed: s.opt.Seed, JunkPPM: 50_000, JunkConns: 4})
			if err != nil {
				return err
			}
			c := p.client
			if c.killed || c.signal != "" || c.exit != wire.ExitOK && c.exit != wire.ExitFailed && c.exit != wire.ExitVerification {
				return want("client exit 0, 1 or 3 by its deadline", "%s", c.how())
			}
			return serverSurvived(p)
		})
	}
}
