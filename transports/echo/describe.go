package echo

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"transportbench/transports/wire"
)

// sourceCommit is set by builds that have no version control metadata: -ldflags "-X transportbench/transports/echo.sourceCommit=..."
var sourceCommit string

// describe completes what the transport says of itself with what every Go driver knows.
func describe(t Transport) wire.Describe {
	d := t.Describe()
	d.Contract = wire.ContractVersion
	if d.Toolchain == "" {
		d.Toolchain = runtime.Version()
	}
	if d.SourceCommit == "" {
		d.SourceCommit = SourceCommit()
	}
	return d
}

// SourceCommit is the commit this binary was built from, with "+dirty" when files were changed, or "unknown".
func SourceCommit() string {
	if sourceCommit != "" {
		return sourceCommit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	commit, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	return commit + dirty
}

// offered compares an invocation with the transport's own description.
func offered(d wire.Describe, cfg wire.Config) error {
	switch {
	case !slices.Contains(d.APIs, cfg.API):
		return &wire.UnsupportedError{What: "api " + cfg.API}
	case cfg.Policy != wire.PolicyOff && !slices.Contains(d.Features, wire.PolicyFeature(cfg.Policy)):
		return &wire.UnsupportedError{What: "policy " + cfg.Policy}
	case d.Limits.MaxPayload > 0 && cfg.Payload > d.Limits.MaxPayload:
		return &wire.UnsupportedError{What: fmt.Sprintf("payload of %d bytes (at most %d)", cfg.Payload, d.Limits.MaxPayload)}
	case d.Limits.MaxConnections > 0 && cfg.Connections > d.Limits.MaxConnections:
		return &wire.UnsupportedError{What: fmt.Sprintf("%d connections (at most %d)", cfg.Connections, d.Limits.MaxConnections)}
	}
	return nil
}
