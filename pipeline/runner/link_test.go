package runner

import (
	"strings"
	"testing"

	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

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
