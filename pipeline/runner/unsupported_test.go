package runner

import (
	"strings"
	"testing"

	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

func TestUnsupportedNamesWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *Options)
		reason string
	}{
		"driver": {func(o *Options) { o.Drivers[1].Missing = "driver other not built: run it" }, "driver other not built: run it"},
		"api":    {func(o *Options) { other(o).API = wire.APIBatch }, `driver other: offers no api "batch"`},
		"policy": {func(o *Options) { other(o).Policy = wire.PolicyDefault }, `driver other: offers no policy "default" (feature policy)`},
		"full policy": {func(o *Options) {
			v, d := other(o), described(o)
			v.API, v.Policy = wire.APIBatch, wire.PolicyFull
			d.APIs, d.Features = []string{wire.APISend, wire.APIBatch}, []string{wire.FeaturePolicy}
		}, `driver other: offers no policy "full" (feature policy-full)`},
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

// described returns the second driver's description for changing.
func described(o *Options) *wire.Describe {
	d := *o.Drivers[1].Describe
	o.Drivers[1].Describe = &d
	return &d
}

func limit(o *Options) *wire.Limits { return &described(o).Limits }
