package sandbox

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"transportbench/pipeline/link"
)

// applied is a link in force.
type applied interface {
	State() link.State
	Counters(ctx context.Context) (link.Counters, error)
	Close() error
}

// linker is what the holder needs of package link.
type linker struct {
	apply func(ctx context.Context, spec EnvSpec) (applied, error)
	probe func(ctx context.Context) []link.Capability
}

func systemLink() linker { return linker{apply: applyLink, probe: link.Probe} }

// applyLink puts the planned backend in force. A plan names one; auto tries them in order of preference.
func applyLink(ctx context.Context, spec EnvSpec) (applied, error) {
	o := link.Options{Backend: spec.Link.Backend, Port: spec.Port}
	seed, err := hex.DecodeString(spec.Seed)
	if err != nil || len(seed) != 0 && len(seed) != len(o.Seed) {
		return nil, fmt.Errorf("link seed %q: want %d bytes in hex", spec.Seed, len(o.Seed))
	}
	copy(o.Seed[:], seed)
	if o.Backend != "auto" && o.Backend != "" {
		return applyOne(ctx, spec, o)
	}
	var missing, fixes []string
	for _, o.Backend = range []string{link.BackendNetem, link.BackendNFT, link.BackendNFQueue} {
		if o.Backend == link.BackendNFT && spec.Link.DelayNS > 0 {
			continue // it only drops
		}
		a, err := applyOne(ctx, spec, o)
		var u *UnsupportedError
		if !errors.As(err, &u) {
			return a, err
		}
		missing = append(missing, o.Backend+": "+u.What)
		if !slices.Contains(fixes, u.Fix) {
			fixes = append(fixes, u.Fix)
		}
	}
	return nil, &UnsupportedError{What: "link: " + strings.Join(missing, "; "), Fix: strings.Join(fixes, "; or ")}
}

// applyOne keeps the nil of a failed link.Apply out of the interface.
func applyOne(ctx context.Context, spec EnvSpec, o link.Options) (applied, error) {
	a, err := link.Apply(ctx, spec.Link, o)
	var u *link.UnsupportedError
	if errors.As(err, &u) {
		return nil, &UnsupportedError{What: u.Missing, Fix: u.Fix, Err: u}
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}
