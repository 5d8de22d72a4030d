package link

import (
	"context"
	"errors"
	"fmt"

	"transportbench/pipeline/matrix"
)

// Applied is a configured link. Its owner calls Close once; the namespace may also just end.
type Applied struct {
	state   State
	backend backend
	base    Counters
}

// backend is one way to lose and delay packets on lo. All calls come from one goroutine.
type backend interface {
	// install puts the impairment in force.
	install(p plan) error
	// readBack asks the kernel what is in force and writes it into the state.
	readBack(s *State) error
	// ledger returns running totals.
	ledger() (ledger, error)
	// close takes the impairment away; safe after a failed install.
	close() error
}

// ledger is what a backend counted: packets per direction, and packets above the MTU, -1 when unknown.
type ledger struct {
	directions       []Direction
	overSent, overLo int64
}

func newBackend(name string) (backend, error) {
	switch name {
	case BackendNetem:
		return &netemBackend{}, nil
	case BackendNFT:
		return &nftBackend{}, nil
	case BackendNFQueue:
		return &queueBackend{}, nil
	case BackendPlain:
		return plainBackend{}, nil
	}
	return nil, fmt.Errorf("link backend %q is unknown: use netem, nft or nfqueue", name)
}

// Apply configures lo of the current network namespace as the spec says and verifies it. Options.Backend must name one
// backend, see Choose. The whole process lives in the namespace, or Apply, Counters and Close are called from one locked
// thread that does. The error is an *UnsupportedError when this environment lacks something.
func Apply(ctx context.Context, spec matrix.LinkSpec, o Options) (*Applied, error) {
	p, err := newPlan(spec, o)
	if err != nil {
		return nil, err
	}
	b, err := newBackend(o.Backend)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("link not applied: %w", err)
	}
	if cannot := lacking(o.Backend, spec); cannot != "" {
		return nil, &UnsupportedError{Missing: o.Backend + " cannot " + cannot, Fix: "use a backend that can: netem does everything, nfqueue all but duplicates"}
	}
	a := &Applied{backend: b, state: State{Backend: o.Backend}}
	if err := a.start(p); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return a, nil
}

func (a *Applied) start(p plan) error {
	if err := configureLoopback(p, &a.state); err != nil {
		return explain("loopback", err)
	}
	if err := a.backend.install(p); err != nil {
		return explain(a.state.Backend, err)
	}
	if err := a.backend.readBack(&a.state); err != nil {
		return err
	}
	if err := compare(p, a.state); err != nil {
		return err
	}
	base, err := a.read()
	a.base = base
	return err
}

// compare refuses a link that the kernel describes otherwise than planned.
func compare(p plan, s State) error {
	var errs []error
	check := func(name string, got, want any) {
		if got != want {
			errs = append(errs, fmt.Errorf("link %s is %v in the kernel, want %v", name, got, want))
		}
	}
	check("mtu", s.MTU, p.mtu)
	check("gso_max_segs", s.GSOMaxSegs, 1)
	check("gso_max_size", s.GSOMaxSize, p.mtu)
	check("gro_max_size", s.GROMaxSize, p.mtu)
	check("congestion control", s.CongestionControl, congestionControl)
	check("rto_min", s.RTOMinNS, p.rtoMin)
	check("loss ppm", s.LossPPM, p.lossPPM)
	check("further impairments", s.More, p.more)
	if off := s.DelayNS - p.delay; off <= -netemTick || off >= netemTick {
		check("delay", s.DelayNS, p.delay)
	}
	if s.Limit != 0 {
		check("limit", s.Limit, p.limit)
	}
	return errors.Join(errs...)
}

// State is what the kernel said after Apply.
func (a *Applied) State() State { return a.state }

// Counters returns totals since Apply.
func (a *Applied) Counters(ctx context.Context) (Counters, error) {
	if err := ctx.Err(); err != nil {
		return Counters{}, fmt.Errorf("link counters not read: %w", err)
	}
	c, err := a.read()
	return c.Sub(a.base), err
}

// Close takes the impairment off lo; MTU, offloads and routes stay until the namespace ends. Where the namespace ends with
// the process, a caller in a hurry may leave Close out: the kernel waits some milliseconds for readers of the rules.
func (a *Applied) Close() error { return a.backend.close() }
