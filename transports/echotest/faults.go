package echotest

import (
	"context"
	"fmt"
	"time"

	"transportbench/transports/wire"
)

// faultDeadline is short because a dropped echo is often only noticed by it.
const faultDeadline = 3 * time.Second

// checkFaults lets the server misbehave in every way: no client may call that a success.
func (s *session) checkFaults(ctx context.Context) {
	for _, suite := range s.opt.Suites {
		for _, api := range s.describe.APIs {
			if suite == wire.SuiteSparse || suite == wire.SuiteLoaded && api != wire.APISend {
				continue // nothing that single and concurrent do not show
			}
			for _, f := range []string{wire.FaultFlip, wire.FaultSwap, wire.FaultRepeat, wire.FaultDrop, wire.FaultCut} {
				s.check("fault/"+f+"/"+suite+"/"+api, func() error { return s.checkFault(ctx, suite, api, f) })
			}
		}
	}
}

func (s *session) checkFault(ctx context.Context, suite, api, fault string) error {
	cfg := s.config(suite, api)
	cfg.Fault, cfg.Deadline = fault, faultDeadline
	if fault == wire.FaultCut {
		cfg.FaultAt = cfg.Warmup + cfg.Samples + cfg.Messages/2
	}
	if !s.describe.Reliable && fault != wire.FaultFlip && fault != wire.FaultDrop {
		return &unsupportedError{"an unreliable transport may reorder, repeat and lose"}
	}
	p, err := s.run(ctx, cfg, nil)
	if err != nil {
		return err
	}
	if !s.describe.Reliable && fault == wire.FaultDrop {
		return lossCounted(p)
	}
	allowed := map[int]bool{wire.ExitVerification: true}
	expected := "client exit 3"
	if fault == wire.FaultDrop || fault == wire.FaultCut {
		allowed[wire.ExitFailed] = true
		expected = "client exit 3 or 1"
	}
	if !allowed[p.client.exit] || p.client.signal != "" || p.client.wall > faultDeadline+deadlineGrace {
		return want(expected+" by the deadline", "%s", p.client.how())
	}
	if _, ok := find[wire.Result](p.client.records); ok {
		return want("no result of a run that failed", "one")
	}
	return serverSurvived(p)
}

// lossCounted is what an unreliable client makes of a dropped echo.
func lossCounted(p pair) error {
	r, ok := find[wire.Result](p.client.records)
	if !ok || p.client.exit != wire.ExitOK || r.Lost < 1 {
		return want("exit 0 and the lost echo counted", "%s, lost %d", p.client.how(), r.Lost)
	}
	if r.Verified+r.Lost != rounds(p.cfg) {
		return want(fmt.Sprintf("verified and lost %d", rounds(p.cfg)), "%d and %d", r.Verified, r.Lost)
	}
	return serverSurvived(p)
}

func serverSurvived(p pair) error {
	if p.server.killed || p.server.signal != "" {
		return want("a server that SIGTERM ends within "+stopWait.String(), "%s", p.server.how())
	}
	return nil
}
