package echotest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"transportbench/transports/wire"
)

// refusal is an invocation that must not run.
type refusal struct {
	name string
	args []string
	exit int
}

// clientWith adds args to a client's shortest invocation.
func clientWith(args ...string) []string {
	return append([]string{"-role=client", "-addr=127.0.0.1:9"}, args...)
}

func refusals() []refusal {
	return []refusal{
		{"unknown-suite", []string{"-suite=does-not-exist"}, wire.ExitUnsupported},
		{"unknown-suite-client", clientWith("-suite", "does-not-exist"), wire.ExitUnsupported},
		{"unknown-flag", clientWith("-no-such-flag=1"), wire.ExitUsage},
		{"unknown-flag-two-dashes", clientWith("--no-such-flag", "1"), wire.ExitUsage},
		{"payload-too-small", clientWith("-payload=" + strconv.Itoa(wire.MinPayload-1)), wire.ExitUsage},
		{"payload-not-a-number", clientWith("-payload=many"), wire.ExitUsage},
		{"zero-messages", clientWith("-messages=0"), wire.ExitUsage},
		{"zero-window", clientWith("-window=0"), wire.ExitUsage},
		{"negative-connections", clientWith("-connections=-1"), wire.ExitUsage},
		{"unknown-role", []string{"-role=referee", "-addr=127.0.0.1:9"}, wire.ExitUsage},
		{"missing-address", []string{"-role=client"}, wire.ExitUsage},
		{"policy-full-without-batch", clientWith("-policy=full"), wire.ExitUsage},
		{"reserved-workload", clientWith("-workload=open"), wire.ExitUnsupported},
	}
}

// checkUsage proves the exit codes of invocations that must not run.
func (s *session) checkUsage(ctx context.Context) {
	for _, c := range refusals() {
		s.check(c.name, func() error { return s.refuses(ctx, c.args, c.exit) })
	}
	s.check("payload-too-large", func() error { return s.refusesTooMuch(ctx, "-payload", s.describe.Limits.MaxPayload) })
	s.check("connections-too-many", func() error {
		return s.refusesTooMuch(ctx, "-suite=concurrent -connections", s.describe.Limits.MaxConnections)
	})
	s.check("api-not-offered", func() error {
		if s.hasAPI(wire.APIBatch) {
			return &unsupportedError{"the driver offers every api"}
		}
		return s.refuses(ctx, clientWith("-api=batch"), wire.ExitUnsupported)
	})
	for _, p := range []struct {
		name, feature string
		args          []string
	}{
		{"policy-not-offered", wire.FeaturePolicy, []string{"-policy=default"}},
		{"policy-full-not-offered", wire.FeaturePolicyFull, []string{"-api=batch", "-policy=full"}},
	} {
		s.check(p.name, func() error {
			if slices.Contains(s.describe.Features, p.feature) {
				return &unsupportedError{"the driver offers " + p.feature}
			}
			return s.refuses(ctx, clientWith(p.args...), wire.ExitUnsupported)
		})
	}
}

// refuses starts the driver with args and wants it to end at once with the exit code; its output may hold an error record and nothing else.
func (s *session) refuses(ctx context.Context, args []string, exits ...int) error {
	p, err := s.start(ctx, invocation{role: wire.RoleClient, args: args, limit: shortLimit})
	if err != nil {
		return err
	}
	out := p.wait()
	ok := false
	var codes []string
	for _, e := range exits {
		ok = ok || out.exit == e && out.signal == "" && !out.killed
		codes = append(codes, strconv.Itoa(e))
	}
	if !ok {
		return want("exit "+strings.Join(codes, " or "), "%s", out.how())
	}
	for _, r := range out.records {
		switch r.(type) {
		case wire.Error, wire.Exit:
		default:
			return want("no record but an error", "%T", r)
		}
	}
	return nil
}

// refusesTooMuch asks for one more than a limit of the driver's own description.
func (s *session) refusesTooMuch(ctx context.Context, flags string, limit int) error {
	args := append(strings.Fields(flags), strconv.Itoa(limit+1), "-role=client", "-addr=127.0.0.1:9")
	if err := s.refuses(ctx, args, wire.ExitUsage, wire.ExitUnsupported); err != nil {
		return fmt.Errorf("%s %d: %w", flags, limit+1, err)
	}
	return nil
}
