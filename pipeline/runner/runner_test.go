package runner

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

func options(t testing.TB, rt *fakeRuntime, plan *matrix.Plan) Options {
	t.Helper()
	described := &wire.Describe{Type: wire.TypeDescribe, Contract: 1, Transport: "tcp", APIs: []string{"send"}, Reliable: true}
	var topology []sandbox.CPU
	for i := range 8 {
		topology = append(topology, sandbox.CPU{ID: i, Core: i})
	}
	return Options{
		Plan: plan, Runtime: rt, Topology: topology, NoFile: 1 << 20, Dir: filepath.Join(tempDir(t), "a"), Floor: "launch",
		Drivers: []drivers.Driver{
			{Name: "tcp", Path: "/tcp", SHA256: "aa", Describe: described}, {Name: "other", Path: "/other", SHA256: "bb", Describe: described},
		},
		Manifest: artifacts.Manifest{ID: "test", HostFingerprint: "host-1"},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPlanRunsToASealedArtifact(t *testing.T) {
	rt := &fakeRuntime{}
	opt := options(t, rt, testPlan(t, 2, nil))
	totals, err := Run(t.Context(), opt)
	must(t, err)
	if totals.OK != 8 || totals.ExitCode() != ExitDone || !totals.Sealed || rt.open != 0 {
		t.Fatalf("%+v, %d networks left open: %s", totals, rt.open, reasons(t, opt.Dir))
	}
	rep, err := artifacts.Verify(opt.Dir)
	must(t, err)
	if len(rep.Findings) != 0 || len(rep.Absent) != 0 {
		t.Fatalf("verify: %+v", rep)
	}
	a, err := artifacts.Load(opt.Dir)
	must(t, err)
	for i, r := range a.Records {
		if r.RunID != opt.Plan.Runs[i].ID || r.Outcome != artifacts.OutcomeOK || len(r.Series) != 1 || len(r.Series[0].Quantiles) != 201 {
			t.Fatalf("record %d: %+v", i, r)
		}
	}
	if m := a.Manifest; m.OK != 8 || m.Finished == nil || m.RSS["single"].FloorKiB != 2048 || m.RSS["single"].StepKiB != 128 || len(a.Suites) != 2 {
		t.Fatalf("manifest %+v, %d suites", m, len(a.Suites))
	}
}

func reasons(t testing.TB, dir string) string {
	t.Helper()
	a, err := artifacts.Load(dir)
	must(t, err)
	var all []string
	for _, r := range a.Records {
		if r.Reason != "" {
			all = append(all, r.RunID+": "+r.Reason)
		}
	}
	return strings.Join(all, "\n")
}

// TestEveryMisbehaviourIsRecorded: one column misbehaves, its runs are recorded with the reason, and the other column's are fine.
func TestEveryMisbehaviourIsRecorded(t *testing.T) {
	client := func(b behaviour) func(wire.Config, string) behaviour { return only("client", b) }
	server := func(b behaviour) func(wire.Config, string) behaviour { return only("server", b) }
	for name, c := range map[string]struct {
		script  func(wire.Config, string) behaviour
		outcome artifacts.Outcome
		reason  string
	}{
		"junk": {client(func(p *fakeProc) int { p.hello(); _, _ = p.out.Write([]byte("hello world\n")); <-p.killed; return -1 }), artifacts.OutcomeFailed, "client: driver output line 2: not a JSON record"},
		"huge line": {client(func(p *fakeProc) int {
			p.hello()
			_, _ = p.out.Write(append([]byte(strings.Repeat("x", 1<<17)), '\n'))
			return 0
		}), artifacts.OutcomeFailed, "client: driver output line 2: longer than 65536 bytes"},
		"endless output": {client(func(p *fakeProc) int { return endless(p) }), artifacts.OutcomeFailed, "client: driver output line 1: not a JSON record"},
		"dies":           {client(func(p *fakeProc) int { p.begin(); p.exit.Signal = 11; return -1 }), artifacts.OutcomeFailed, "client: ended by signal 11"},
		"early exit":     {client(func(p *fakeProc) int { p.hello(); return 0 }), artifacts.OutcomeFailed, "client: driver output ended: connected, start, result: record is missing"},
		"fails, log":     {client(func(p *fakeProc) int { _, _ = p.log.Write([]byte("no route\n")); return 1 }), artifacts.OutcomeFailed, "client: exited 1: log ends with: no route"},
		"wrong echo": {client(func(p *fakeProc) int {
			p.begin()
			p.say(wire.Error{Type: "error", Code: "verification", Message: "message 7"})
			return 3
		}), artifacts.OutcomeFailed, "client: exited 3: verification: message 7"},
		"127": {client(func(p *fakeProc) int {
			p.say(wire.Error{Type: "error", Code: "unsupported", Message: "no sparse"})
			return 127
		}), artifacts.OutcomeUnsupported, "exited 127: unsupported: no sparse"},
		"no exec":        {client(func(p *fakeProc) int { p.exit.ExecErrno = 8; return 126 }), artifacts.OutcomeFailed, "could not be started: exec errno 8"},
		"launch dies":    {client(func(p *fakeProc) int { p.noExit = true; return 0 }), artifacts.OutcomeFailed, "client: launch reported no exit"},
		"hangs":          {client(func(p *fakeProc) int { p.hello(); <-p.killed; return -1 }), artifacts.OutcomeFailed, "client: no result within its deadline of 7m30s"},
		"wrong verified": {client(clientSaying(func(r *wire.Result) { r.Verified-- })), artifacts.OutcomeFailed, "verified and 0 lost, want"},
		"wrong messages": {client(clientSaying(func(r *wire.Result) { r.Messages++ })), artifacts.OutcomeFailed, "messages, want"},
		"wrong bytes":    {client(clientSaying(func(r *wire.Result) { r.Bytes -= 800 })), artifacts.OutcomeFailed, "bytes, want"},
		"loses":          {client(clientSaying(func(r *wire.Result) { r.Lost, r.Verified = 1, r.Verified-1 })), artifacts.OutcomeFailed, "1 messages lost by a reliable transport"},
		"Little":         {client(clientSaying(func(r *wire.Result) { r.PerConn[0].RTTSumNS *= 2 })), artifacts.OutcomeFailed, "connection 0: 1.895 windows in flight"},
		"wrong quantile": {client(clientSaying(func(r *wire.Result) { quantiles(r).P95NS++ })), artifacts.OutcomeFailed, "p95 is 1001 ns, the samples file has 1000 ns"},
		"no quantiles":   {client(clientSaying(func(r *wire.Result) { r.Sparse, r.Loaded = nil, nil })), artifacts.OutcomeFailed, "quantiles"},
		"no samples":     {client(func(p *fakeProc) int { p.begin(); p.say(p.result()); return 0 }), artifacts.OutcomeFailed, "samples: the client wrote no file"},
		"few samples":    {client(func(p *fakeProc) int { p.begin(); p.samples(4); p.say(p.result()); return 0 }), artifacts.OutcomeFailed, "samples: 4 RTTs, want"},
		"no RSS":         {client(func(p *fakeProc) int { p.exit.MaxRSSKiB = 0; return honestClient(p) }), artifacts.OutcomeFailed, "client: peak RSS is missing"},
		"not nice":       {client(func(p *fakeProc) int { p.exit.Nice = 0; return honestClient(p) }), artifacts.OutcomeFailed, "client: nice 0, want 10"},
		"few files":      {client(func(p *fakeProc) int { p.exit.NoFileSoft = 1024; return honestClient(p) }), artifacts.OutcomeFailed, "client: open files limit 1024, want 16384 at least"},
		"wrong CPUs":     {client(func(p *fakeProc) int { p.exit.Affinity = []int{0}; return honestClient(p) }), artifacts.OutcomeFailed, "affinity of client"},
		"reno":           {client(reno), artifacts.OutcomeFailed, `client: congestion control of a connected socket is "reno", want cubic`},
		"server not up":  {server(func(p *fakeProc) int { <-p.killed; return -1 }), artifacts.OutcomeFailed, "server: not ready within 10s"},
		"server dies": {server(func(p *fakeProc) int {
			p.say(wire.Error{Type: "error", Code: "failed", Message: "port taken"})
			return 1
		}), artifacts.OutcomeFailed, "server: ended before it was ready: exited 1: failed: port taken"},
		"server counts": {server(func(p *fakeProc) int {
			p.hello()
			p.ready()
			p.untilTerm()
			p.say(wire.Done{Type: "done", Connections: int64(p.cfg.Connections), Messages: 3})
			return 0
		}), artifacts.OutcomeFailed, "server: 3 messages echoed, the client verified"},
		"server ignores": {server(func(p *fakeProc) int { p.ignoreTERM = true; p.hello(); p.ready(); <-p.killed; return -1 }), artifacts.OutcomeFailed, "server: launch reported no exit"},
		"server elsewhere": {server(func(p *fakeProc) int {
			p.hello()
			p.say(wire.Ready{Type: "ready", Addr: "10.0.0.1:80"})
			<-p.killed
			return -1
		}), artifacts.OutcomeFailed, `server: ready on "10.0.0.1:80"`},
		"server quits": {both(func(p *fakeProc) int { p.hello(); p.ready(); return 1 }, func(p *fakeProc) int { p.hello(); <-p.killed; return -1 }), artifacts.OutcomeFailed, "server: ended before the client: exited 1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { checkMisbehaviour(t, c.script, c.outcome, c.reason) })
		})
	}
}

func checkMisbehaviour(t *testing.T, script func(wire.Config, string) behaviour, outcome artifacts.Outcome, reason string) {
	rt := &fakeRuntime{}
	opt := options(t, rt, testPlan(t, 1, nil))
	bad := map[string]bool{}
	rt.script = func(cfg wire.Config, role string) behaviour {
		if bad["now"] {
			return script(cfg, role)
		}
		return nil
	}
	opt.Progress = watch(func(e Event) {
		if e.Type == EventRun {
			bad["now"] = strings.Contains(e.RunID, "/other/")
		}
	})
	totals, err := Run(t.Context(), opt)
	must(t, err)
	if totals.OK != 2 || totals.NotRun != 0 || !totals.Sealed || rt.open != 0 {
		t.Fatalf("%+v, %d networks open: %s", totals, rt.open, reasons(t, opt.Dir))
	}
	a, err := artifacts.Load(opt.Dir)
	must(t, err)
	for _, r := range a.Records {
		if r.Variant.Name == "tcp" {
			continue
		}
		if r.Outcome != outcome || !strings.Contains(r.Reason, reason) || strings.Contains(r.Reason, "\n") {
			t.Errorf("%s: %s %q, want %s %q", r.RunID, r.Outcome, r.Reason, outcome, reason)
		}
	}
	if want := map[artifacts.Outcome]int{artifacts.OutcomeFailed: ExitPartial, artifacts.OutcomeUnsupported: ExitDone}[outcome]; totals.ExitCode() != want {
		t.Errorf("exit code %d, want %d", totals.ExitCode(), want)
	}
}

func only(role string, b behaviour) func(wire.Config, string) behaviour {
	return func(_ wire.Config, r string) behaviour {
		if r == role {
			return b
		}
		return nil
	}
}

func both(server, client behaviour) func(wire.Config, string) behaviour {
	return func(_ wire.Config, r string) behaviour {
		if r == "server" {
			return server
		}
		return client
	}
}

func endless(p *fakeProc) int {
	for i := range 1 << 20 {
		if _, err := p.out.Write([]byte(strings.Repeat("y", 1000) + "\n")); err != nil || i > 1<<15 {
			return -1
		}
	}
	return 0
}

func quantiles(r *wire.Result) *wire.Quantiles {
	if r.Loaded != nil {
		return r.Loaded
	}
	return r.Sparse
}

func reno(p *fakeProc) int {
	p.hello()
	p.say(wire.Connected{Type: wire.TypeConnected, N: p.cfg.Connections, SetupNS: 5, Settings: &wire.Settings{CongestionControl: "reno"}})
	p.say(wire.Start{Type: wire.TypeStart, MonoNS: 1})
	p.samples(max(p.cfg.Connections*p.cfg.Samples, map[string]int{wire.SuiteLoaded: p.cfg.Connections * p.cfg.Messages}[p.cfg.Suite]))
	p.say(p.result())
	return 0
}

// watch is a Progress made of a function.
type watch func(Event)

func (w watch) Event(e Event) { w(e) }
func (w watch) Close() error  { return nil }

func TestLinkThatIsNotAsPlannedFailsTheRun(t *testing.T) {
	lossy := func(p *matrix.Profile) { p.Link.LossPPM = 10_000 }
	for name, c := range map[string]struct {
		state   func(*link.State)
		delta   func(*link.Counters)
		profile func(*matrix.Profile)
		reason  string
		flag    string
	}{
		"no loss":    {func(s *link.State) { s.LossPPM = 0 }, nil, lossy, "link: 0 ppm and 0s one way, want 10000 ppm", ""},
		"bbr":        {func(s *link.State) { s.CongestionControl = "bbr" }, nil, nil, `link: congestion control of the routes is "bbr"`, ""},
		"MTU":        {func(s *link.State) { s.MTU = 65536 }, nil, nil, "link: MTU 65536, want 1500", ""},
		"backend":    {func(s *link.State) { s.Backend = "netem" }, nil, nil, "link: backend netem, want nft", ""},
		"no drops":   {nil, func(c *link.Counters) { c.Directions[1].Dropped = 0 }, lossy, "ledger: to-client dropped 0 of 100000 packets", ""},
		"drops at 0": {nil, func(c *link.Counters) { c.Directions[0].Dropped = 5 }, nil, "ledger: to-server dropped 5 packets at 0 % loss", ""},
		"unusual":    {nil, func(c *link.Counters) { c.Directions[0].Dropped = 1125 }, lossy, "", link.FlagLossUnusual},
		"over MTU":   {nil, func(c *link.Counters) { c.OverMTU = 9 }, nil, "", FlagOverMTU},
		"balanced":   {nil, nil, lossy, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			opt := options(t, &fakeRuntime{state: c.state, delta: c.delta}, testPlan(t, 1, c.profile))
			totals, err := Run(t.Context(), opt)
			must(t, err)
			a, err := artifacts.Load(opt.Dir)
			must(t, err)
			for _, r := range a.Records {
				if (r.Outcome == artifacts.OutcomeOK) != (c.reason == "") || !strings.Contains(r.Reason, c.reason) {
					t.Fatalf("%+v: %s %q, want %q", totals, r.Outcome, r.Reason, c.reason)
				}
				if c.flag != "" && !strings.Contains(strings.Join(r.Flags, " "), c.flag) {
					t.Fatalf("flags %v, want %s", r.Flags, c.flag)
				}
			}
		})
	}
}

func TestUnsupportedNamesWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *Options)
		reason string
	}{
		"driver":      {func(o *Options) { o.Drivers[1].Missing = "driver other not built: run it" }, "driver other not built: run it"},
		"api":         {func(o *Options) { other(o).API = wire.APIBatch }, `driver other: offers no api "batch"`},
		"policy":      {func(o *Options) { other(o).Policy = wire.PolicyDefault }, `driver other: offers no policy "default"`},
		"unreliable":  {func(o *Options) { other(o).Unreliable = true; o.Plan.Runs[1].Profile.Link.LossPPM = 10_000 }, "repairs nothing"},
		"link":        {func(o *Options) { o.Plan.Runs[1].Profile.Link.Backend = matrix.BackendNone }, "no link backend here"},
		"open files":  {func(o *Options) { o.Plan.Runs[1].Profile.Connections = 1 << 20 }, "open files limit 16384: 1048576 connections need 1048640"},
		"max payload": {func(o *Options) { limit(o).MaxPayload = 100 }, "takes payloads up to 100 B, not 800"},
		"sandbox": {func(o *Options) {
			o.Runtime = &fakeRuntime{openErr: func(id string) error {
				if strings.Contains(id, "/other/") {
					return &sandbox.UnsupportedError{What: "no user namespaces", Fix: "allow them"}
				}
				return nil
			}}
		}, "no user namespaces; allow them"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := testPlan(t, 1, nil)
			plan.Runs = plan.Runs[:2]
			opt := options(t, &fakeRuntime{}, plan)
			c.change(&opt)
			totals, err := Run(t.Context(), opt)
			must(t, err)
			if totals.Unsupported != 1 || totals.OK != 1 || totals.ExitCode() != ExitDone || !strings.Contains(reasons(t, opt.Dir), c.reason) {
				t.Fatalf("%+v: %s, want %q", totals, reasons(t, opt.Dir), c.reason)
			}
		})
	}
}

func other(o *Options) *matrix.Variant { return &o.Plan.Runs[1].Variant }

func limit(o *Options) *wire.Limits {
	d := *o.Drivers[1].Describe
	o.Drivers[1].Describe = &d
	return &d.Limits
}

func TestHungClientCostsItsDeadlineAndNotMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := testPlan(t, 1, nil)
		plan.Runs = plan.Runs[:1]
		rt := &fakeRuntime{script: only("client", func(p *fakeProc) int { p.begin(); <-p.killed; return -1 })}
		begun := time.Now()
		totals, err := Run(t.Context(), options(t, rt, plan))
		must(t, err)
		if d := time.Since(begun); totals.Failed != 1 || d != 455*time.Second {
			t.Fatalf("%+v after %s, want the deadline of 450 s and 5 s more", totals, d)
		}
	})
}
