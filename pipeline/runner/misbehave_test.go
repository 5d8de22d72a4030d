package runner

import (
	"strings"
	"testing"
	"testing/synctest"

	"transportbench/artifacts"
	"transportbench/transports/wire"
)

// misbehaviour is a driver that does something wrong, and what must be recorded of it.
type misbehaviour struct {
	script  func(wire.Config, string) behaviour
	outcome artifacts.Outcome
	reason  string
}

func failedClient(b behaviour, reason string) misbehaviour {
	return misbehaviour{only("client", b), artifacts.OutcomeFailed, "client: " + reason}
}

// wrongResult is an honest client but for one change of its result.
func wrongResult(change func(r *wire.Result), reason string) misbehaviour {
	return misbehaviour{only("client", clientSaying(change)), artifacts.OutcomeFailed, reason}
}

// wrongExit is an honest client of which launch reports something else than was set.
func wrongExit(change func(e *wire.Exit), reason string) misbehaviour {
	return misbehaviour{only("client", func(p *fakeProc) int { change(&p.exit); return honestClient(p) }), artifacts.OutcomeFailed, reason}
}

func failedServer(b behaviour, reason string) misbehaviour {
	return misbehaviour{only("server", b), artifacts.OutcomeFailed, "server: " + reason}
}

func brokenClients() map[string]misbehaviour {
	return map[string]misbehaviour{
		"junk":           failedClient(saying("hello world\n"), "driver output line 2: not a JSON record"),
		"huge line":      failedClient(saying(strings.Repeat("x", 1<<17)+"\n"), "driver output line 2: longer than 65536 bytes"),
		"endless output": failedClient(endless, "driver output line 1: not a JSON record"),
		"dies":           failedClient(func(p *fakeProc) int { p.begin(); p.exit.Signal = 11; return -1 }, "ended by signal 11"),
		"early exit":     failedClient(func(p *fakeProc) int { p.hello(); return 0 }, "driver output ended: connected, start, result: record is missing"),
		"fails":          failedClient(func(p *fakeProc) int { p.write("no route\n"); return 1 }, "exited 1: log ends with: no route"),
		"wrong echo":     failedClient(complaining("verification", "message 7", 3), "exited 3: verification: message 7"),
		"no exec":        failedClient(func(p *fakeProc) int { p.exit.ExecErrno = 8; return 126 }, "could not be started: exec errno 8"),
		"launch dies":    failedClient(func(p *fakeProc) int { p.noExit = true; return 0 }, "launch reported no exit"),
		"hangs":          failedClient(hanging, "no result within its deadline of 7m30s"),
		"reno":           failedClient(reno, `congestion control of a connected socket is "reno", want cubic`),
		"127": {only("client", complaining("unsupported", "no sparse", 127)), artifacts.OutcomeUnsupported,
			"exited 127: unsupported: no sparse"},
		"few samples": {only("client", func(p *fakeProc) int { p.begin(); p.samples(4); p.say(p.result()); return 0 }),
			artifacts.OutcomeFailed, "samples: 4 RTTs, want"},
		"no samples": {only("client", func(p *fakeProc) int { p.begin(); p.say(p.result()); return 0 }),
			artifacts.OutcomeFailed, "samples: the client wrote no file"},
	}
}

func lyingClients() map[string]misbehaviour {
	return map[string]misbehaviour{
		"wrong verified": wrongResult(func(r *wire.Result) { r.Verified-- }, "verified and 0 lost, want"),
		"wrong messages": wrongResult(func(r *wire.Result) { r.Messages++ }, "messages, want"),
		"wrong bytes":    wrongResult(func(r *wire.Result) { r.Bytes -= 800 }, "bytes, want"),
		"loses":          wrongResult(func(r *wire.Result) { r.Lost, r.Verified = 1, r.Verified-1 }, "1 messages lost by a reliable transport"),
		"Little":         wrongResult(func(r *wire.Result) { r.PerConn[0].RTTSumNS *= 2 }, "connection 0: 1.895 windows in flight"),
		"no burst time":  wrongResult(func(r *wire.Result) { r.PerConn[0] = wire.ConnResult{} }, "connection 0: burst time of 0 ns"),
		"wrong quantile": wrongResult(func(r *wire.Result) { quantiles(r).P95NS++ }, "p95 is 1001 ns, the samples file has 1000 ns"),
		"no quantiles":   wrongResult(func(r *wire.Result) { r.Sparse, r.Loaded = nil, nil }, "quantiles"),
		"no RSS":         wrongExit(func(e *wire.Exit) { e.MaxRSSKiB = 0 }, "client: peak RSS is missing"),
		"not nice":       wrongExit(func(e *wire.Exit) { e.Nice = 0 }, "client: nice 0, want 10"),
		"few files":      wrongExit(func(e *wire.Exit) { e.NoFileSoft = 1024 }, "client: open files limit 1024, want 16384 at least"),
		"wrong CPUs":     wrongExit(func(e *wire.Exit) { e.Affinity = []int{0} }, "affinity of client"),
	}
}

func brokenServers() map[string]misbehaviour {
	return map[string]misbehaviour{
		"server not up":    failedServer(func(p *fakeProc) int { <-p.killed; return -1 }, "not ready within 10s"),
		"server dies":      failedServer(complaining("failed", "port taken", 1), "ended before it was ready: exited 1: failed: port taken"),
		"server counts":    failedServer(miscounting, "3 messages echoed, the client verified"),
		"server ignores":   failedServer(stubborn, "launch reported no exit"),
		"server elsewhere": failedServer(elsewhere, `ready on "10.0.0.1:80"`),
		"server quits": {both(func(p *fakeProc) int { p.hello(); p.ready(); return 1 }, hanging),
			artifacts.OutcomeFailed, "server: ended before the client: exited 1"},
	}
}

// TestEveryMisbehaviourIsRecorded: one column misbehaves, its runs are recorded with the reason, and the other column's are fine.
func TestEveryMisbehaviourIsRecorded(t *testing.T) {
	for _, set := range []map[string]misbehaviour{brokenClients(), lyingClients(), brokenServers()} {
		for name, c := range set {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkMisbehaviour(t, c.script, c.outcome, c.reason) })
			})
		}
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
