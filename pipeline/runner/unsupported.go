package runner

import (
	"fmt"
	"slices"

	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

// unsupported says what is missing for a run that is not even tried, or nothing.
func (s *session) unsupported(r matrix.Run) string {
	if reason := r.Unsupported(); reason != "" {
		return reason
	}
	d := s.opt.driver(r.Variant.Driver)
	if d == nil {
		return "driver " + r.Variant.Driver + " was not looked up"
	}
	if d.Missing != "" {
		return d.Missing
	}
	if d.Describe != nil {
		if reason := notDescribed(*d.Describe, r); reason != "" {
			return "driver " + r.Variant.Driver + ": " + reason
		}
	}
	if s.opt.NoFile > 0 {
		if err := sandbox.CheckNoFile(r.Profile.Connections, s.opt.NoFile); err != nil {
			return oneLine(err.Error())
		}
	}
	return ""
}

// notDescribed compares a run with what its driver says it can do.
func notDescribed(d wire.Describe, r matrix.Run) string {
	v, p := r.Variant, r.Profile
	api := r.ClientConfig(serverAddr(), 1).API
	switch {
	case !slices.Contains(d.APIs, api):
		return fmt.Sprintf("offers no api %q", api)
	case v.Policy != wire.PolicyOff && !slices.Contains(d.Features, wire.PolicyFeature(v.Policy)):
		return fmt.Sprintf("offers no policy %q (feature %s)", v.Policy, wire.PolicyFeature(v.Policy))
	case d.Limits.MaxPayload > 0 && p.PayloadBytes > d.Limits.MaxPayload:
		return fmt.Sprintf("takes payloads up to %d B, not %d", d.Limits.MaxPayload, p.PayloadBytes)
	case d.Limits.MaxConnections > 0 && p.Connections > d.Limits.MaxConnections:
		return fmt.Sprintf("takes up to %d connections, not %d", d.Limits.MaxConnections, p.Connections)
	case !d.Reliable && p.Link.Lossy():
		return "repairs nothing, so it is not measured with injected loss"
	case !d.Reliable && !p.Link.Orderly():
		return "repairs nothing, so it is not measured with jitter, reordering or duplicates"
	}
	return ""
}
