package runner

import (
	"fmt"
	"slices"

	"transportbench/pipeline/link"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

// Flags that the runner itself puts on a record.
const (
	FlagShared   = "shared-machine" // another bench was allowed beside this one
	FlagShortRun = "short-run"      // the burst took less than a second
	FlagOverMTU  = "over-mtu"       // packets larger than the MTU crossed the link: the loss unit is a batch
)

const (
	shortRunNS  = 1_000_000_000
	wantNice    = 10    // launch sets it on every driver, as published
	maxNoFile   = 16384 // launch raises the soft limit to min(hard limit, this)
	littleLimit = 1.005 // Little's law per connection: sum of RTT / (burst time x window) above it is a lie or a bug
)

// inspect holds a run whose processes ended well against everything that must be true of a measurement. It returns the first
// thing that is not, and adds flags.
func (m *measurement) inspect() string {
	for _, check := range []func() string{
		m.checkCounts, m.checkServerCounts, m.checkUsage, m.checkPlacement, m.checkCongestion, m.checkLink, m.checkLedger,
		m.checkLittle, m.checkSeries,
	} {
		if reason := check(); reason != "" {
			return reason
		}
	}
	if m.rec.Client.Result.ElapsedNS < shortRunNS {
		m.rec.Flags = append(m.rec.Flags, FlagShortRun)
	}
	return ""
}

// checkCounts: every planned message was sent, echoed and verified; an unreliable transport may lose echoes and must say so.
func (m *measurement) checkCounts() string {
	p, r := m.run.Profile, m.rec.Client.Result
	if r == nil || m.rec.Client.Connected == nil {
		return "client: no result record"
	}
	n := int64(p.Connections)
	burst, all := n*int64(p.Messages), n*int64(p.Warmup+p.Samples+p.Messages)
	lossy := m.lossy()
	switch {
	case m.rec.Client.Connected.N != p.Connections:
		return fmt.Sprintf("client: %d connections, want %d", m.rec.Client.Connected.N, n)
	case r.Messages != burst:
		return fmt.Sprintf("result: %d messages, want %d", r.Messages, burst)
	case !lossy && r.Lost != 0:
		return fmt.Sprintf("result: %d messages lost by a reliable transport", r.Lost)
	case r.Verified+r.Lost != all:
		return fmt.Sprintf("result: %d verified and %d lost, want %d together", r.Verified, r.Lost, all)
	case !lossy && r.Bytes != burst*int64(p.PayloadBytes):
		return fmt.Sprintf("result: %d bytes, want %d messages of %d B", r.Bytes, burst, p.PayloadBytes)
	case r.Bytes > burst*int64(p.PayloadBytes) || r.Bytes%int64(p.PayloadBytes) != 0 || r.Bytes < burst*int64(p.PayloadBytes)-r.Lost*int64(p.PayloadBytes):
		return fmt.Sprintf("result: %d bytes do not fit %d messages of %d B with %d lost", r.Bytes, burst, p.PayloadBytes, r.Lost)
	}
	return ""
}

// checkServerCounts: the server counted what the client verified.
func (m *measurement) checkServerCounts() string {
	d, r := m.rec.Server.Done, m.rec.Client.Result
	switch {
	case d == nil:
		return "server: no done record"
	case d.Connections != int64(m.run.Profile.Connections):
		return fmt.Sprintf("server: %d connections, the client has %d", d.Connections, m.run.Profile.Connections)
	case m.lossy() && d.Messages >= r.Verified && d.Messages <= r.Verified+r.Lost:
		return ""
	case d.Messages != r.Verified:
		return fmt.Sprintf("server: %d messages echoed, the client verified %d", d.Messages, r.Verified)
	}
	return ""
}

// checkUsage: launch measured both processes, under the settings it was asked for.
func (m *measurement) checkUsage() string {
	for _, s := range m.sides() {
		e := s.side.Exit
		soft := min(e.NoFileHard, maxNoFile)
		switch {
		case e.MaxRSSKiB <= 0:
			return s.name + ": peak RSS is missing"
		case e.Nice != wantNice:
			return fmt.Sprintf("%s: nice %d, want %d", s.name, e.Nice, wantNice)
		case e.NoFileSoft < soft:
			return fmt.Sprintf("%s: open files limit %d, want %d at least", s.name, e.NoFileSoft, soft)
		case s.side.Hello == nil:
			return s.name + ": no hello record"
		case s.side.Hello.Settings.Nice != e.Nice || s.side.Hello.Settings.NoFile < e.NoFileSoft: // Go raises its own soft limit further
			return fmt.Sprintf("%s: runs at nice %d with %d open files, launch set %d and %d",
				s.name, s.side.Hello.Settings.Nice, s.side.Hello.Settings.NoFile, e.Nice, e.NoFileSoft)
		}
	}
	return ""
}

// checkPlacement: both processes ran where they were put, as launch and as the driver itself read it back.
func (m *measurement) checkPlacement() string {
	for _, s := range m.sides() {
		for who, got := range map[string][]int{s.name + " (launch)": s.side.Exit.Affinity, s.name: s.side.Hello.Settings.Affinity} {
			if err := sandbox.CheckAffinity(who, s.cpus, got); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

// checkCongestion: the routes ask for cubic, and kernel TCP sockets have it. Transports with a controller of their own only report it.
func (m *measurement) checkCongestion() string {
	const want = "cubic"
	if cc := m.rec.Link.CongestionControl; cc != want {
		return fmt.Sprintf("link: congestion control of the routes is %q, want %s", cc, want)
	}
	if d := m.s.opt.driver(m.run.Variant.Driver); d.Describe == nil || d.Describe.Transport != "tcp" {
		return ""
	}
	sockets := map[string]*wire.Settings{"client": m.rec.Client.Connected.Settings, "server": m.rec.Server.Done.Settings}
	for _, name := range []string{"client", "server"} {
		s := sockets[name]
		if s == nil && name == "server" {
			continue // not every server knows an accepted socket's settings when it ends
		}
		if s == nil || s.CongestionControl != want {
			return fmt.Sprintf("%s: congestion control of a connected socket is %q, want %s", name, controlOf(s), want)
		}
	}
	return ""
}

func controlOf(s *wire.Settings) string {
	if s == nil {
		return "unknown"
	}
	return s.CongestionControl
}

// checkLink: the kernel has the impairment that the plan asks for.
func (m *measurement) checkLink() string {
	want, got := m.run.Link(), m.rec.Link
	switch {
	case got.LossPPM != want.LossPPM || got.DelayNS != want.DelayNS:
		return fmt.Sprintf("link: %d ppm and %s one way, want %d ppm and %s", got.LossPPM, got.DelayNS, want.LossPPM, want.DelayNS)
	case got.More != want.More:
		return fmt.Sprintf("link: further impairments %s, want %s", got.More, want.More)
	case want.MTU != 0 && got.MTU != want.MTU:
		return fmt.Sprintf("link: MTU %d, want %d", got.MTU, want.MTU)
	case want.Backend != "" && want.Backend != "auto" && got.Backend != want.Backend:
		return fmt.Sprintf("link: backend %s, want %s", got.Backend, want.Backend)
	case got.RTOMinNS != want.RTOMinNS:
		return fmt.Sprintf("link: minimum RTO %s, want %s", got.RTOMinNS, want.RTOMinNS)
	}
	return ""
}

// checkLedger: the injected drops of each direction are those of the planned loss.
func (m *measurement) checkLedger() string {
	if m.rec.Counters.OverMTU > 0 {
		m.rec.Flags = append(m.rec.Flags, FlagOverMTU)
	}
	for _, d := range m.rec.Counters.Directions {
		v := link.BalanceLink(d, m.run.Profile.Link)
		for _, f := range v.Flags {
			if !slices.Contains(m.rec.Flags, f) {
				m.rec.Flags = append(m.rec.Flags, f)
			}
		}
		if !v.OK {
			return "ledger: " + v.Reason
		}
	}
	if m.run.Profile.Link.Lossy() && len(m.rec.Counters.Directions) == 0 {
		return "ledger: no direction was counted although loss was asked for"
	}
	return ""
}

// lossy reports whether echoes may be missing: the column or the driver itself says that nothing is repaired.
func (m *measurement) lossy() bool {
	d := m.s.opt.driver(m.run.Variant.Driver)
	return m.run.Variant.Unreliable || d != nil && d.Describe != nil && !d.Describe.Reliable
}

// checkLittle: no connection had more messages in flight, on average, than its window. One of an unreliable transport may have
// lost its whole burst: without an echo there is no time to judge.
func (m *measurement) checkLittle() string {
	for i, c := range m.rec.Client.Result.PerConn {
		if c.BurstNS == 0 && c.RTTSumNS == 0 && m.lossy() {
			continue
		}
		if c.BurstNS <= 0 {
			return fmt.Sprintf("connection %d: burst time of %d ns", i, c.BurstNS)
		}
		if u := float64(c.RTTSumNS) / (float64(c.BurstNS) * float64(m.run.Profile.Window)); u > littleLimit {
			return fmt.Sprintf("connection %d: %.3f windows in flight on average, which cannot be (Little's law)", i, u)
		}
	}
	return ""
}
