package echotest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"transportbench/transports/wire"
)

// shortLimit is enough for a driver that has nothing to do.
const shortLimit = 10 * time.Second

// checkDescribe asks the driver who it is; without an answer nothing else can be judged.
func (s *session) checkDescribe(ctx context.Context) bool {
	ok := false
	s.check(nameDescribe, func() error {
		p, err := s.start(ctx, invocation{role: wire.RoleDescribe, args: []string{"describe"}, limit: shortLimit})
		if err != nil {
			return err
		}
		out := p.wait()
		d, found := find[wire.Describe](out.records)
		switch {
		case len(out.faults) > 0:
			return want("one describe record on one line", "%v", out.faults[0])
		case out.exit != wire.ExitOK || !found:
			return want("exit 0 and a describe record", "%s", out.how())
		}
		s.describe, s.report.Describe, ok = d, &d, true
		return saneDescribe(d)
	})
	return ok
}

func saneDescribe(d wire.Describe) error {
	for _, f := range []struct{ field, value string }{
		{"transport", d.Transport}, {"transport_version", d.TransportVersion}, {"source_commit", d.SourceCommit}, {"toolchain", d.Toolchain},
		{"encryption", d.Encryption},
	} {
		if f.value == "" {
			return want("a "+f.field+" (\"unknown\" or \"none\" where that is the truth)", "nothing")
		}
	}
	for _, f := range d.Features {
		if f != wire.FeaturePolicy && f != wire.FeaturePolicyFull && f != wire.FeatureUnreliable {
			return want("features among policy, policy-full, unreliable", "%q", f)
		}
	}
	switch {
	case slices.Contains(d.Features, "unreliable") && d.Reliable:
		return want("reliable false with the feature unreliable", "true")
	case d.Limits.MaxPayload < wire.MinPayload || d.Limits.MaxConnections < 1:
		return want(fmt.Sprintf("max_payload of %d or more and max_connections of 1 or more", wire.MinPayload), "%+v", d.Limits)
	}
	return nil
}
