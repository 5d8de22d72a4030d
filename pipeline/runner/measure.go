package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

// port is where every server listens, as in the published benchmark.
const port = 19342

func serverAddr() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// measurement is one attempt while it runs.
type measurement struct {
	s       *session
	run     matrix.Run
	rec     *artifacts.Record
	samples string // path of the raw samples file; empty: none is wanted
	env     sandbox.Env
	server  *process
	client  *process
	mark    time.Time // end of the previous phase

	countersBefore link.Counters
	hostBefore     json.RawMessage
}

// phase books the time since the last mark.
func (m *measurement) phase(name string) {
	now := time.Now()
	m.rec.OverheadNS[name] += now.Sub(m.mark).Nanoseconds()
	m.mark = now
}

// measure runs server and client once. The error is why there is no measurement; m.rec holds whatever was said all the same.
func (m *measurement) measure(ctx context.Context) error {
	m.mark = time.Now()
	env, err := m.s.opt.Runtime.Open(ctx, sandbox.EnvSpec{RunID: m.run.ID, Link: m.run.Link(), Seed: m.run.Seed, Port: port})
	if err != nil {
		return fmt.Errorf("private network: %w", err)
	}
	m.env = env
	state := env.Link()
	m.rec.Link = &state
	err = m.inside(ctx)
	if closeErr := env.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("private network: %w", closeErr)
	}
	m.collect() // the processes are gone with their network
	m.phase("exit")
	return err
}

func (m *measurement) inside(ctx context.Context) error {
	if err := m.before(ctx); err != nil {
		return err
	}
	if err := m.startServer(ctx); err != nil {
		return err
	}
	if err := m.runClient(ctx); err != nil {
		return err
	}
	if err := m.disturbance(ctx); err != nil {
		return err
	}
	if err := m.stopServer(ctx); err != nil {
		return err
	}
	return m.counters(ctx)
}

func (m *measurement) before(ctx context.Context) (err error) {
	if m.countersBefore, err = m.env.Counters(ctx); err != nil {
		return fmt.Errorf("counters: %w", err)
	}
	if m.hostBefore, err = m.env.Host(ctx); err != nil {
		return fmt.Errorf("host capture: %w", err)
	}
	m.phase("namespace")
	return nil
}

// disturbance reads the host while the server still runs, so that its context switches count.
func (m *measurement) disturbance(ctx context.Context) error {
	now, err := m.env.Host(ctx)
	if err != nil {
		return fmt.Errorf("host capture: %w", err)
	}
	var flags []string
	if m.rec.Host, flags, err = disturbed(m.hostBefore, now); err != nil {
		return err
	}
	m.rec.Flags = append(m.rec.Flags, flags...)
	return nil
}

// counters reads the network's totals after both processes are gone.
func (m *measurement) counters(ctx context.Context) error {
	now, err := m.env.Counters(ctx)
	if err != nil {
		return fmt.Errorf("counters: %w", err)
	}
	delta := now.Sub(m.countersBefore)
	m.rec.Counters = &delta
	return nil
}

func (m *measurement) spec(name string, c wire.Config, cpus []int) sandbox.ProcSpec {
	return sandbox.ProcSpec{
		Name: name, Path: m.s.opt.driver(m.run.Variant.Driver).Path, Args: c.Args(), CPUs: cpus, StopTERM: m.s.opt.Plan.Deadlines.Stop,
	}
}

func (m *measurement) startServer(ctx context.Context) (err error) {
	cfg := m.run.ServerConfig(serverAddr(), m.s.cpus(m.rec.Placement.Server), m.s.opt.Plan.Deadlines.ServerExtra)
	if m.server, err = start(ctx, m.env, m.spec("server", cfg, m.rec.Placement.Server), wire.RoleServer); err != nil {
		return err
	}
	deadline := time.NewTimer(m.s.opt.Plan.Deadlines.Ready)
	defer deadline.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-deadline.C:
		return fmt.Errorf("server: not ready within %s", m.s.opt.Plan.Deadlines.Ready)
	case <-m.server.ready:
	}
	m.phase("server_start")
	if m.server.address == "" {
		return errEarly{m.server, "ended before it was ready"}
	}
	if a, err := netip.ParseAddrPort(m.server.address); err != nil || a != serverAddr() {
		return fmt.Errorf("server: ready on %q, want %s", m.server.address, serverAddr())
	}
	return nil
}

// errEarly is the end of a process at the wrong time. Its text is completed after the process is gone, when its records can be read.
type errEarly struct {
	p    *process
	what string
}

func (e errEarly) Error() string {
	select {
	case <-e.p.done:
		if r := e.p.exitReason(); r != "" {
			return e.p.name + ": " + e.what + ": " + r
		}
	default:
	}
	return e.p.name + ": " + e.what
}

// errDeadline is a driver that did not end in time.
type errDeadline struct{ after time.Duration }

func (e errDeadline) Error() string {
	return fmt.Sprintf("client: no result within its deadline of %s, killed", e.after)
}

// runClient waits for the client's end. It has its own deadline and reports it; a client that does not is killed a little later.
// When the server is gone first, the client gets the same little time.
func (m *measurement) runClient(ctx context.Context) (err error) {
	cfg := m.run.ClientConfig(serverAddr(), m.s.cpus(m.rec.Placement.Client))
	spec := m.spec("client", cfg, m.rec.Placement.Client)
	spec.Samples = m.samples
	if m.client, err = start(ctx, m.env, spec, wire.RoleClient); err != nil {
		return err
	}
	grace := m.s.opt.Plan.Deadlines.Stop
	deadline := time.NewTimer(m.run.Profile.Deadline + grace)
	defer deadline.Stop()
	var early <-chan time.Time
	serverDone := m.server.done
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.client.done:
			m.clientPhases()
			return nil
		case <-deadline.C:
			return errDeadline{m.run.Profile.Deadline}
		case <-serverDone:
			t := time.NewTimer(grace)
			defer t.Stop()
			serverDone, early = nil, t.C
		case <-early:
			return errEarly{m.server, "ended before the client"}
		}
	}
}

// clientPhases splits the client's time: what is not connect, warmup, samples or burst counts as overhead.
func (m *measurement) clientPhases() {
	c := m.client
	if c.helloAt.IsZero() || c.connectedAt.IsZero() || c.resultAt.IsZero() {
		m.mark = time.Now()
		return
	}
	m.rec.OverheadNS["client_start"] = c.helloAt.Sub(m.mark).Nanoseconds()
	m.rec.OverheadNS["connect"] = c.connectedAt.Sub(c.helloAt).Nanoseconds() // of the measurement itself; shown, not summed
	if !c.startAt.IsZero() {
		m.rec.OutsideBurstNS = c.resultAt.Sub(c.startAt).Nanoseconds()
	}
	m.mark = c.resultAt
}

func (m *measurement) stopServer(ctx context.Context) error {
	if err := m.server.p.Stop(); err != nil {
		return fmt.Errorf("server: stop: %w", err)
	}
	deadline := time.NewTimer(m.s.opt.Plan.Deadlines.Stop)
	defer deadline.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-deadline.C:
		return fmt.Errorf("server: not gone %s after SIGKILL", m.s.opt.Plan.Deadlines.Stop)
	case <-m.server.done:
		return nil
	}
}

// collect waits for both processes, which have ended with their network, and moves what they said into the record.
func (m *measurement) collect() {
	for _, d := range []struct {
		p    *process
		side *artifacts.Side
	}{{m.server, &m.rec.Server}, {m.client, &m.rec.Client}} {
		if d.p == nil {
			continue
		}
		<-d.p.done
		d.p.container()
		digest := d.side.Digest
		*d.side = d.p.side
		d.side.Digest = digest
	}
}
