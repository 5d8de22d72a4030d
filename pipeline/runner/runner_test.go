package runner

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/drivers"
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

// TestUnreliableDriverMayStarveAConnection: a connection whose whole burst was lost is data, not a defect of the run.
func TestUnreliableDriverMayStarveAConnection(t *testing.T) {
	for name, unreliable := range map[string]func(o *Options){
		"column": func(o *Options) { other(o).Unreliable = true },
		"driver": func(o *Options) { described(o).Reliable = false },
	} {
		t.Run(name, func(t *testing.T) {
			plan := testPlan(t, 1, nil)
			plan.Runs = plan.Runs[2:] // the suite of four connections
			rt := &fakeRuntime{}
			opt := options(t, rt, plan)
			rt.script = only("client", clientSaying(func(r *wire.Result) {
				r.PerConn[3], r.Lost, r.Verified, r.Bytes = wire.ConnResult{}, 50, r.Verified-50, r.Bytes-50*800
			}))
			unreliable(&opt)
			totals, err := Run(t.Context(), opt)
			must(t, err)
			if totals.OK != 1 || totals.Failed != 1 { // the same from the reliable column is a defect
				t.Fatalf("%+v: %s", totals, reasons(t, opt.Dir))
			}
		})
	}
}
