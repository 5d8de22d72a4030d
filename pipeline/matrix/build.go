package matrix

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"transportbench/transports/wire"
)

// Bounds of a plan. They are limits of sanity, not numbers of an experiment.
const (
	maxPayload     = 64 << 10
	maxConnections = 32 << 10
	maxMessages    = 1 << 32 // burst of one run, all connections
	maxRounds      = 1 << 26 // warmup or samples of one run, all connections
	maxRepetitions = 1000
	maxWindow      = 1 << 16
	maxListeners   = 64
	maxCPUs        = 1024
	maxBuffer      = 1 << 30
	maxProfiles    = 1000
	maxVariants    = 100
	maxDuration    = 24 * time.Hour
	ppmPerPercent  = 10000
)

// name is what matrices, columns and drivers may be called: it becomes part of run ids and file names.
var name = regexp.MustCompile(`^[a-z0-9]([a-z0-9.+-]{0,62}[a-z0-9])?$`)

func suiteNames() []string {
	return []string{wire.SuiteSingle, wire.SuiteSparse, wire.SuiteConcurrent, wire.SuiteLoaded}
}

func (s source) build(raw *rawMatrix) (*Matrix, error) {
	if err := s.checkHead(raw); err != nil {
		return nil, err
	}
	m := &Matrix{
		Name: raw.Name, Kind: KindCustom, Seed: raw.Seed, NoFile: int(raw.OpenFiles),
		Floors: Floors{Windows: int(raw.ScaleFloors.Windows), Warmup: int(raw.ScaleFloors.Warmup), Samples: int(raw.ScaleFloors.Samples)},
		Deadlines: Deadlines{
			Client: time.Duration(raw.Deadlines.Client), ServerExtra: time.Duration(raw.Deadlines.ServerExtra),
			Ready: time.Duration(raw.Deadlines.Ready), Stop: time.Duration(raw.Deadlines.Stop),
		},
	}
	steps := []func(*rawMatrix, *Matrix) error{s.buildVariants, s.buildProfiles, s.buildProbe}
	for _, step := range steps {
		if err := step(raw, m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (s source) checkHead(raw *rawMatrix) error {
	if raw.Schema != SchemaVersion {
		return s.errorf("schema", "is %d, this program reads schema %d", raw.Schema, SchemaVersion)
	}
	if !name.MatchString(raw.Name) {
		return s.errorf("name", "%q is not a name: want lower-case letters, digits, dots and dashes", raw.Name)
	}
	if raw.Seed == "" {
		return s.errorf("seed", "is missing: any text will do, it decides which packets are lost")
	}
	for suite := range raw.Suites {
		if !slices.Contains(suiteNames(), suite) {
			return s.errorf("suites."+suite, "unknown suite: choose from %s", strings.Join(suiteNames(), ", "))
		}
	}
	c := checker{s: s}
	c.count("scale_floors.windows", int(raw.ScaleFloors.Windows), 1, maxWindow)
	c.count("scale_floors.warmup", int(raw.ScaleFloors.Warmup), 0, maxRounds)
	c.count("scale_floors.samples", int(raw.ScaleFloors.Samples), 0, maxRounds)
	c.count("open_files_reserve", int(raw.OpenFiles), 1, maxConnections)
	c.duration("deadlines.client", time.Duration(raw.Deadlines.Client))
	c.duration("deadlines.server_extra", time.Duration(raw.Deadlines.ServerExtra))
	c.duration("deadlines.ready", time.Duration(raw.Deadlines.Ready))
	c.duration("deadlines.stop", time.Duration(raw.Deadlines.Stop))
	c.link(raw.Link)
	return c.err
}

// buildProfiles fills in what the suites say, checks every profile and gives it its id.
func (s source) buildProfiles(raw *rawMatrix, m *Matrix) error {
	if n := len(raw.Profiles); n == 0 || n > maxProfiles {
		return s.errorf("profiles", "has %d entries, want 1 to %d", n, maxProfiles)
	}
	for i, rp := range raw.Profiles {
		path := fmt.Sprintf("profiles[%d]", i)
		p, err := s.profile(path, raw, rp)
		if err != nil {
			return err
		}
		if j := slices.IndexFunc(m.Profiles, func(q Profile) bool { return q.ID == p.ID }); j >= 0 {
			return s.errorf(path, "duplicate id %s, first used by profiles[%d]", p.ID, j)
		}
		m.Profiles = append(m.Profiles, p)
	}
	return nil
}

func (s source) profile(path string, raw *rawMatrix, rp rawProfile) (Profile, error) {
	if !slices.Contains(suiteNames(), rp.Suite) {
		return Profile{}, s.errorf(path+".suite", "unknown suite %q: choose from %s", rp.Suite, strings.Join(suiteNames(), ", "))
	}
	over, su := rp.Override, raw.Suites[rp.Suite]
	p := Profile{
		Suite: rp.Suite, PayloadBytes: int(rp.Payload), Connections: int(rp.Connections), Messages: int(rp.Messages), Rationale: rp.Rationale,
		Warmup: first(over.Warmup, su.Warmup), Samples: first(over.Samples, su.Samples), Window: first(over.Window, su.Window),
		Repetitions: first(over.Repetitions, su.Repetitions), Listeners: first(over.Listeners, su.Listeners),
		CPUs: first(over.CPUs, su.CPUs), Workers: first(over.Workers, su.Workers),
		Deadline: cmp.Or(firstSpan(over.Deadline, su.Deadline), time.Duration(raw.Deadlines.Client)),
		Link: LinkSpec{
			LossPPM: int(rp.LossPercent), DelayNS: time.Duration(rp.OneWayDelay),
			MTU: int(raw.Link.MTU), Limit: int(raw.Link.Limit), Backend: raw.Link.Backend, Topology: raw.Link.Topology,
		},
	}
	if pl := cmp.Or(over.Placement, su.Placement); pl != nil {
		p.Placement = Placement(*pl)
	}
	c := checker{s: s}
	p.Link.More = c.impairment(path, rp.More)
	p.ID = p.makeID()
	c.profile(path, p)
	if field, why := p.Link.Problem(); field != "" {
		c.fail(path+"."+field, "%s", why)
	}
	return p, c.err
}

func (s source) buildProbe(raw *rawMatrix, m *Matrix) error {
	for i, rp := range raw.Probe {
		path := fmt.Sprintf("probe[%d]", i)
		if i >= maxVariants {
			return s.errorf(path, "more than %d steps", maxVariants)
		}
		if _, ok := m.variant(rp.Variant); !ok {
			return s.errorf(path+".variant", "no column %q in this file", rp.Variant)
		}
		p, err := s.profile(path, raw, rp.Profile)
		if err != nil {
			return err
		}
		m.Probe = append(m.Probe, ProbeStep{Variant: rp.Variant, Profile: p})
	}
	return nil
}

// makeID names a profile: <suite>-<payload>B-<N>c-l<loss %>-d<one-way ms>, and -<impairments> where there are any.
func (p Profile) makeID() string {
	id := fmt.Sprintf("%s-%dB-%dc-l%s-d%s", p.Suite, p.PayloadBytes, p.Connections, p.lossPercent(), p.delayMS())
	if p.Link.More != (Impairment{}) {
		id += "-" + p.Link.More.String()
	}
	return id
}

// lossPercent is the loss as ids and --only write it: 1, or 0.5.
func (p Profile) lossPercent() string {
	return percentOf(p.Link.LossPPM)
}

// delayMS is the one-way delay in ms as ids and --only write it.
func (p Profile) delayMS() string {
	return millis(p.Link.DelayNS)
}

// first returns what the profile says, else what its suite says, else zero.
func first(values ...*integer) int {
	if v := cmp.Or(values...); v != nil {
		return int(*v)
	}
	return 0
}

func firstSpan(values ...*span) time.Duration {
	if v := cmp.Or(values...); v != nil {
		return time.Duration(*v)
	}
	return 0
}
