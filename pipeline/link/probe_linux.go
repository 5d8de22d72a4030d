package link

import (
	"context"
	"errors"
	"time"

	"transportbench/pipeline/matrix"
)

// Probe tries each backend in the current network namespace, which must be a scratch one, and cleans up.
func Probe(ctx context.Context) []Capability {
	caps := make([]Capability, 0, len(preference))
	for _, name := range preference {
		caps = append(caps, try(ctx, name))
	}
	return caps
}

func try(ctx context.Context, name string) Capability {
	c := Capability{Backend: name, Loss: true, Delay: name != BackendNFT}
	a, err := Apply(ctx, trial(name), Options{Backend: name, Port: 1})
	if err == nil {
		err = a.Close()
	}
	if err == nil {
		c.OK = true
		return c
	}
	return refused(name, err)
}

// trial is an impairment that shows that a backend does all it claims.
func trial(name string) matrix.LinkSpec {
	spec := matrix.LinkSpec{LossPPM: 10_000}
	if name != BackendNFT {
		spec.DelayNS = 5 * time.Millisecond
	}
	return spec
}

// refused turns an Apply error into a capability that is missing.
func refused(name string, err error) Capability {
	c := Capability{Backend: name, Reason: err.Error()}
	var u *UnsupportedError
	if errors.As(err, &u) {
		c.Reason, c.Fix = u.Missing, u.Fix
	}
	return c
}
