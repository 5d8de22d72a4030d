package runner

import (
	"os"
	"path/filepath"
	"testing"

	"transportbench/artifacts"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
)

// TestLocalRuntimeEndToEnd measures every driver that builds, for real, in a few small runs of each suite.
func TestLocalRuntimeEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("unsupported in -short: builds drivers and opens private networks")
	}
	bin := t.TempDir()
	must(t, drivers.Build(t.Context(), "../..", bin, func(b drivers.Built) { t.Log(b.Name, b.Skipped) }))
	rt, err := sandbox.NewLocal(filepath.Join(bin, drivers.Launch))
	must(t, err)
	defer func() { must(t, rt.Close()) }()
	probe, err := rt.Probe(t.Context())
	must(t, err)
	if probe.Namespaces != "ok" {
		t.Skipf("unsupported: %s; %s", probe.Namespaces, probe.Fix)
	}
	opt := localOptions(t, rt, probe, bin)
	opt.Progress = NewPlain(testWriter{t})
	totals, err := Run(t.Context(), opt)
	must(t, err)
	if totals.Failed != 0 || totals.OK == 0 || !totals.Sealed {
		t.Fatalf("%+v", totals)
	}
	rep, err := artifacts.Verify(opt.Dir)
	must(t, err)
	if len(rep.Findings) != 0 {
		t.Fatalf("verify: %v", rep.Findings)
	}
	a, err := artifacts.Load(opt.Dir)
	must(t, err)
	if len(a.Suites) == 0 || a.Suites[0].RSS == nil || a.Suites[0].RSS.FloorKiB <= 0 {
		t.Fatalf("floor of peak RSS: %+v", a.Suites)
	}
}

func localOptions(t *testing.T, rt *sandbox.Local, probe sandbox.Probe, bin string) Options {
	t.Helper()
	m, err := matrix.Builtin("quick")
	must(t, err)
	plan, err := matrix.NewPlan(m, matrix.Selection{Scale: 0.02, MaxConnections: 8, Repetitions: 1})
	must(t, err)
	must(t, plan.ResolveBackends(func(l matrix.LinkSpec) (string, error) {
		b, err := link.Choose(l, probe.Links)
		if err != nil {
			return matrix.BackendNone, nil
		}
		return b, nil
	}))
	topology, err := sandbox.Topology()
	must(t, err)
	return Options{
		Plan: plan, Runtime: rt, Topology: topology, NoFile: probe.NoFileHard, Floor: filepath.Join(bin, drivers.Launch),
		Dir:     filepath.Join(t.TempDir(), "a"),
		Drivers: drivers.Find(t.Context(), bin, nil, planDrivers(plan)),
		Network: func() (sandbox.NetState, error) { return sandbox.NetSnapshot(os.DirFS("/")) },
	}
}

func planDrivers(p *matrix.Plan) []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range append(p.Probe, p.Runs...) {
		if !seen[r.Variant.Driver] {
			seen[r.Variant.Driver] = true
			names = append(names, r.Variant.Driver)
		}
	}
	return names
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%.300s", p)
	return len(p), nil
}
