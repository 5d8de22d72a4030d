package matrix

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"transportbench/transports/wire"
)

// checker keeps the first wrong value of a file.
type checker struct {
	s   source
	err error
}

func (c *checker) fail(path, format string, args ...any) {
	if c.err == nil {
		c.err = c.s.errorf(path, format, args...)
	}
}

// count accepts lo..hi. A value that is absent from the file is zero here.
func (c *checker) count(path string, v, lo, hi int) {
	if v < lo || v > hi {
		c.fail(path, "is %d, want %d to %d", v, lo, hi)
	}
}

func (c *checker) duration(path string, d time.Duration) {
	if d <= 0 || d > maxDuration {
		c.fail(path, "is %v, want more than 0s and at most %v", d, maxDuration)
	}
}

func (c *checker) oneOf(path, v string, choices ...string) {
	if !slices.Contains(choices, v) {
		c.fail(path, "unknown value %q: choose from %s", v, strings.Join(choices, ", "))
	}
}

func (c *checker) name(path, v string) {
	if !name.MatchString(v) {
		c.fail(path, "%q is not a name: want lower-case letters, digits, dots and dashes", v)
	}
}

func (c *checker) link(l rawLink) {
	c.count("link.mtu", int(l.MTU), 576, 65535) // 576: what every IPv4 host must accept (RFC 791)
	c.count("link.limit", int(l.Limit), 1, 10_000_000)
	c.oneOf("link.backend", l.Backend, "auto", "netem", "nft", "nfqueue")
	c.oneOf("link.topology", l.Topology, "lo")
}

func (c *checker) profile(path string, p Profile) {
	c.count(path+".payload", p.PayloadBytes, wire.MinPayload, maxPayload)
	c.count(path+".connections", p.Connections, 1, maxConnections)
	if p.Suite == wire.SuiteSingle || p.Suite == wire.SuiteSparse {
		c.count(path+".connections", p.Connections, 1, 1)
	}
	n := max(p.Connections, 1)
	c.count(path+".messages", p.Messages, 1, maxMessages/n)
	c.count(path+".warmup", p.Warmup, 0, maxRounds/n)
	c.count(path+".samples", p.Samples, 0, maxRounds/n)
	if p.Suite == wire.SuiteSparse {
		c.count(path+".samples", p.Samples, 1, maxRounds/n)
	}
	c.count(path+".window", p.Window, 1, maxWindow)
	c.count(path+".repetitions", p.Repetitions, 1, maxRepetitions)
	c.count(path+".listeners", p.Listeners, 1, maxListeners)
	c.count(path+".workers", p.Workers, 1, maxCPUs)
	c.duration(path+".deadline", p.Deadline)
	c.placement(path, p)
	if p.Link.DelayNS < 0 || p.Link.DelayNS > time.Minute {
		c.fail(path+".one_way_delay", "is %v, want 0s to %v", p.Link.DelayNS, time.Minute)
	}
}

func (c *checker) placement(path string, p Profile) {
	c.oneOf(path+".placement", string(p.Placement), string(PlacementUnpinned), string(PlacementOneEach), string(PlacementSplit))
	switch p.Placement {
	case PlacementUnpinned:
		c.count(path+".cpus", p.CPUs, 0, 0)
	case PlacementOneEach:
		c.count(path+".cpus", p.CPUs, 1, 1)
	default:
		c.count(path+".cpus", p.CPUs, 1, maxCPUs)
	}
}

// buildVariants checks the columns and the template of bound ones.
func (s source) buildVariants(raw *rawMatrix, m *Matrix) error {
	c := checker{s: s}
	if len(raw.Variants) > maxVariants {
		return s.errorf("variants", "has %d entries, want at most %d", len(raw.Variants), maxVariants)
	}
	for i, rv := range raw.Variants {
		path := fmt.Sprintf("variants[%d]", i)
		c.name(path+".name", rv.Name)
		c.driver(path+".driver", rv.Driver)
		c.image(path+".image", rv.Image)
		if _, ok := m.variant(rv.Name); ok {
			c.fail(path+".name", "duplicate column %s", rv.Name)
		}
		m.Variants = append(m.Variants, c.variant(path, rv))
	}
	if raw.Bound.Name != "" || raw.Bound.Driver != "" || raw.Bound.Image != "" {
		c.fail("bound", "takes no name, no driver and no image: --driver NAME=PATH gives both")
	}
	m.Bound = c.variant("bound", raw.Bound)
	m.Bound.Extra = true
	return c.err
}

// variant applies the defaults of the schema (api send, policy off, gso off, buffers on both sides) and checks one column.
func (c *checker) variant(path string, rv rawVariant) Variant {
	v := Variant{
		Name: rv.Name, Driver: rv.Driver, Image: rv.Image, API: or(rv.API, wire.APISend), Policy: or(rv.Policy, wire.PolicyOff),
		RcvBuf: int(rv.RcvBuf), SndBuf: int(rv.SndBuf), BuffersOn: or(rv.BuffersOn, BuffersBoth), GSO: or(rv.GSO, GSOOff),
		RTOMinNS: time.Duration(rv.RTOMin), Unreliable: rv.Unreliable, Extra: rv.Extra, Rationale: rv.Rationale,
	}
	c.oneOf(path+".api", v.API, wire.APISend, wire.APIBatch)
	c.oneOf(path+".policy", v.Policy, wire.PolicyOff, wire.PolicyDefault, wire.PolicyFull)
	if v.Policy == wire.PolicyFull && v.API != wire.APIBatch {
		c.fail(path+".policy", "full is about batch calls: it needs api batch")
	}
	c.oneOf(path+".buffers_on", v.BuffersOn, BuffersBoth, BuffersServer)
	c.oneOf(path+".gso", v.GSO, GSOOff, GSOOn, GSOLossless)
	c.count(path+".rcvbuf", v.RcvBuf, 0, maxBuffer)
	c.count(path+".sndbuf", v.SndBuf, 0, maxBuffer)
	if v.RTOMinNS < 0 || v.RTOMinNS > time.Minute {
		c.fail(path+".rto_min", "is %v, want 0s to %v", v.RTOMinNS, time.Minute)
	}
	for _, suite := range sortedKeys(rv.MTU) {
		c.oneOf(path+".mtu", suite, suiteNames()...)
		c.count(path+".mtu."+suite, int(rv.MTU[suite]), 1, 65535)
		if v.MTU == nil {
			v.MTU = map[string]int{}
		}
		v.MTU[suite] = int(rv.MTU[suite])
	}
	return v
}
