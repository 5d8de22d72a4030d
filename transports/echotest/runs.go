package echotest

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"transportbench/transports/wire"
)

// checkRuns measures every suite with every api on an unharmed path and looks at all that was said about it.
func (s *session) checkRuns(ctx context.Context) {
	for _, suite := range s.opt.Suites {
		for _, api := range s.describe.APIs {
			s.checkRun(ctx, suite, api)
		}
	}
}

// checkRun makes one run and one check of each thing it must get right, all from the same output.
func (s *session) checkRun(ctx context.Context, suite, api string) {
	cfg := s.config(suite, api)
	cfg.SamplesFile = s.samplesPath()
	at := suite + "/" + api
	run := sync.OnceValues(func() (pair, error) { return s.run(ctx, cfg, nil) })
	for _, c := range []struct {
		name string
		f    func(pair) error
	}{
		{"run", endedWell}, {"records", s.recordsOf}, {"result", s.resultOf}, {"littles-law", littlesLaw}, {"clock", clockOf}, {"done", s.doneOf},
		{"samples", s.samplesOf},
	} {
		s.check(c.name+"/"+at, func() error {
			p, err := run()
			if err == nil && c.name != "run" && p.client.exit != wire.ExitOK {
				err = fmt.Errorf("the client failed, see run/%s: %s", at, p.client.how())
			}
			if err != nil {
				return err
			}
			return c.f(p)
		})
	}
}

func endedWell(p pair) error {
	switch {
	case p.client.exit != wire.ExitOK:
		return want("client exit 0", "%s", p.client.how())
	case p.server.exit != wire.ExitOK || p.server.killed:
		return want("server exit 0 after SIGTERM", "%s", p.server.how())
	}
	return nil
}

// recordsOf checks types, order and sizes of both outputs, and the identity they claim.
func (s *session) recordsOf(p pair) error {
	for _, side := range []struct {
		name string
		out  output
	}{{"client", p.client}, {"server", p.server}} {
		if len(side.out.faults) > 0 {
			return want(side.name+" records as the contract orders them", "%v", side.out.faults[0])
		}
		if e, ok := find[wire.Error](side.out.records); ok {
			return want("no error record in a good run", "%s: %s", side.name, e.Message)
		}
		hello, ok := find[wire.Hello](side.out.records)
		if !ok || hello.PID <= 0 {
			return want(side.name+" hello record with a pid", "%+v", hello)
		}
	}
	if c, _ := find[wire.Connected](p.client.records); c.N != p.cfg.Connections {
		return want(fmt.Sprintf("%d connections in the connected record", p.cfg.Connections), "%d", c.N)
	}
	return nil
}

// resultOf checks the arithmetic of the result record.
func (s *session) resultOf(p pair) error {
	r, ok := find[wire.Result](p.client.records)
	if !ok {
		return want("a result record", "none")
	}
	burst := int64(p.cfg.Connections) * int64(p.cfg.Messages)
	all := rounds(p.cfg)
	switch {
	case r.Messages != burst:
		return want(fmt.Sprintf("messages %d", burst), "%d", r.Messages)
	case s.describe.Reliable && r.Lost != 0:
		return want("lost 0 of a reliable transport", "%d", r.Lost)
	case r.Verified+r.Lost != all:
		return want(fmt.Sprintf("verified and lost %d: warmup, samples and burst", all), "%d and %d", r.Verified, r.Lost)
	case r.Lost == 0 && r.Bytes != burst*int64(p.cfg.Payload), r.Bytes > burst*int64(p.cfg.Payload), r.Bytes%int64(p.cfg.Payload) != 0:
		return want(fmt.Sprintf("bytes %d = messages x payload", burst*int64(p.cfg.Payload)), "%d with %d lost", r.Bytes, r.Lost)
	case r.ElapsedNS <= 0 || r.ElapsedNS > p.client.wall.Nanoseconds():
		return want(fmt.Sprintf("elapsed_ns within the client's life of %v", p.client.wall), "%d", r.ElapsedNS)
	case len(r.PerConn) != p.cfg.Connections:
		return want(fmt.Sprintf("%d entries per connection", p.cfg.Connections), "%d", len(r.PerConn))
	}
	return quantilesPresent(p.cfg, r)
}

// quantilesPresent wants the sequential samples wherever there were any and the loaded ones of the loaded suite.
func quantilesPresent(cfg wire.Config, r wire.Result) error {
	n := cfg.Connections
	if (r.Sparse != nil) != (cfg.Samples > 0) {
		return want(fmt.Sprintf("sparse quantiles exactly when there are samples (%d)", cfg.Samples), "%v", r.Sparse)
	}
	if (r.Loaded != nil) != (cfg.Suite == wire.SuiteLoaded) {
		return want("loaded quantiles exactly in the loaded suite", "%v", r.Loaded)
	}
	for _, q := range []struct {
		name string
		q    *wire.Quantiles
		n    int
	}{{"sparse", r.Sparse, n * cfg.Samples}, {"loaded", r.Loaded, n * cfg.Messages}} {
		if q.q == nil {
			continue
		}
		if int64(q.q.N)+r.Lost < int64(q.n) || q.q.N > q.n {
			return want(fmt.Sprintf("%s n %d", q.name, q.n), "%d", q.q.N)
		}
		if q.q.P50NS <= 0 || q.q.P50NS > q.q.P95NS || q.q.P95NS > q.q.P99NS {
			return want(q.name+" 0 < p50 <= p95 <= p99", "%+v", *q.q)
		}
	}
	return nil
}

// littleBound is 1 with room for the time between two readings of the clock.
const littleBound = 1.005

// littlesLaw checks per connection that no more messages were in flight on average than the window allows: sum of RTT <= burst time x window.
func littlesLaw(p pair) error {
	r, ok := find[wire.Result](p.client.records)
	if !ok {
		return want("a result record", "none")
	}
	for i, c := range r.PerConn {
		if c.BurstNS <= 0 || c.RTTSumNS <= 0 || float64(c.BurstNS) > float64(r.ElapsedNS)*littleBound {
			return want("burst_ns and rtt_sum_ns above 0, burst_ns within elapsed_ns", "connection %d: %+v of %d", i, c, r.ElapsedNS)
		}
		if u := float64(c.RTTSumNS) / (float64(c.BurstNS) * float64(p.cfg.Window)); u > littleBound {
			return want(fmt.Sprintf("sum of RTT / (burst time x window) <= %v", littleBound), "connection %d: %.3f", i, u)
		}
	}
	return nil
}

// clockOf wants the start record to carry CLOCK_MONOTONIC of this machine.
func clockOf(p pair) error {
	if _, err := monotonicNS(); err != nil {
		return err
	}
	st, ok := find[wire.Start](p.client.records)
	if !ok || st.MonoNS < p.began || st.MonoNS > p.ended {
		return want(fmt.Sprintf("start mono_ns between %d and %d", p.began, p.ended), "%d", st.MonoNS)
	}
	return nil
}

// doneOf compares the server's counts with the client's.
func (s *session) doneOf(p pair) error {
	d, ok := find[wire.Done](p.server.records)
	if !ok {
		return want("a done record after SIGTERM", "none; %s", p.server.how())
	}
	all := rounds(p.cfg)
	r, _ := find[wire.Result](p.client.records)
	switch {
	case d.Connections != int64(p.cfg.Connections):
		return want(fmt.Sprintf("connections %d", p.cfg.Connections), "%d", d.Connections)
	case d.Messages > all || d.Messages < r.Verified || s.describe.Reliable && d.Messages != all:
		return want(fmt.Sprintf("messages %d, as the client counted", all), "%d", d.Messages)
	case len(d.PerListener) != p.cfg.Listeners:
		return want(fmt.Sprintf("per_listener of %d listeners", p.cfg.Listeners), "%d", len(d.PerListener))
	}
	return nil
}

// checkPayloads runs sizes around every boundary that a transport may have: smallest, one packet, several packets, its own limit.
func (s *session) checkPayloads(ctx context.Context) {
	for _, size := range []int{wire.MinPayload, 64, 800, 1400, 4096} {
		s.check(fmt.Sprintf("payload/%d", size), func() error {
			if size > s.maxPayload() {
				return &unsupportedError{fmt.Sprintf("the driver's limit is %d", s.maxPayload())}
			}
			cfg := s.config(wire.SuiteSingle, wire.APISend)
			cfg.Payload = size
			return s.runs(ctx, cfg, nil)
		})
	}
	s.check("payload/max", func() error {
		cfg := s.config(wire.SuiteSingle, wire.APISend)
		cfg.Payload, cfg.Messages, cfg.Warmup, cfg.Samples, cfg.Window = s.maxPayload(), 3, 0, 1, 2
		cfg.Deadline = largeDeadline
		return s.runs(ctx, cfg, nil)
	})
	s.check("flags-two-dashes", func() error {
		p, err := s.start(ctx, invocation{role: wire.RoleClient, limit: shortLimit, args: []string{
			"--role", "client", "--addr", "127.0.0.1:9", "--suite", "does-not-exist", "--payload", "64",
		}})
		if err != nil {
			return err
		}
		if out := p.wait(); out.exit != wire.ExitUnsupported {
			return want("flags with two dashes and separate values: exit 127 for the unknown suite", "%s", out.how())
		}
		return nil
	})
}

// runs makes one run that must succeed, with everything verified.
func (s *session) runs(ctx context.Context, cfg wire.Config, via func(netip.AddrPort) (netip.AddrPort, error)) error {
	p, err := s.run(ctx, cfg, via)
	if err != nil {
		return err
	}
	if err := endedWell(p); err != nil {
		return err
	}
	if err := s.recordsOf(p); err != nil {
		return err
	}
	return s.resultOf(p)
}
