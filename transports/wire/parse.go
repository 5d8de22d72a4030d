package wire

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Upper bounds of flags. They keep sizes and products of them well inside an int64; a transport's own limits are usually lower.
const (
	maxPayload     = 64 << 20 // bytes
	maxConnections = 1 << 20
	maxWindow      = 1 << 16
	maxRounds      = 1 << 32 // warmup, samples and messages, per connection
	maxTotal       = 1 << 40 // messages of all connections
	maxSmall       = 1 << 16 // workers, listeners, mtu
	maxSocketBuf   = 1 << 30 // bytes; the kernel keeps twice the value in an int
)

// Parse reads the flags of a driver: one or two dashes, "-x v" or "-x=v", the last of a repeated flag wins; a boolean flag takes
// its value only as "-x=v". It returns *UsageError for what cannot be meant and *UnsupportedError for what is reserved or
// unknown but well formed; an unknown suite is reported before anything that is missing. -help prints the flags to stderr.
func Parse(args []string, stderr io.Writer) (Config, error) {
	c := Default()
	fs := c.flags(io.Discard)
	fs.Usage = func() {}
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(stderr)
			fs.PrintDefaults()
			return Config{}, &UsageError{Reason: "help was asked for; nothing was run"}
		}
		return Config{}, &UsageError{Reason: oneLine(err.Error())}
	}
	if fs.NArg() > 0 {
		return Config{}, &UsageError{Reason: fmt.Sprintf("stray argument %q: every value belongs to a flag", fs.Arg(0))}
	}
	if err := c.validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (c Config) validate() error {
	for _, check := range []func() error{c.reserved, c.enums, c.ranges, c.combinations} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) reserved() error {
	switch c.Suite {
	case SuiteSingle, SuiteSparse, SuiteConcurrent, SuiteLoaded:
	default:
		return &UnsupportedError{What: fmt.Sprintf("suite %q", c.Suite)}
	}
	if c.Workload != "closed" {
		return &UnsupportedError{What: fmt.Sprintf("workload %q", c.Workload)}
	}
	if c.Schedule != "" {
		return &UnsupportedError{What: "flag -schedule (reserved)"}
	}
	return nil
}

func (c Config) enums() error {
	for _, e := range []struct {
		flag, value string
		allowed     []string
	}{
		{"role", c.Role, []string{RoleServer, RoleClient}},
		{"api", c.API, []string{APISend, APIBatch}},
		{"policy", c.Policy, []string{PolicyOff, PolicyDefault, PolicyFull}},
	} {
		if !slices.Contains(e.allowed, e.value) {
			return &UsageError{Flag: e.flag, Reason: fmt.Sprintf("%q is not one of %s", e.value, strings.Join(e.allowed, ", "))}
		}
	}
	if !c.Addr.IsValid() {
		return &UsageError{Flag: "addr", Reason: "missing: give IP:PORT"}
	}
	return nil
}

func (c Config) ranges() error {
	for _, r := range []struct {
		flag          string
		value, lo, hi int
	}{
		{"connections", c.Connections, 1, maxConnections},
		{"messages", c.Messages, 1, maxRounds},
		{"payload", c.Payload, MinPayload, maxPayload},
		{"window", c.Window, 1, maxWindow},
		{"warmup", c.Warmup, 0, maxRounds},
		{"samples", c.Samples, 0, maxRounds},
		{"workers", c.Workers, 0, maxSmall},
		{"listeners", c.Listeners, 1, maxSmall},
		{"mtu", c.MTU, 0, maxSmall},
		{"rcvbuf", c.RcvBuf, 0, maxSocketBuf},
		{"sndbuf", c.SndBuf, 0, maxSocketBuf},
	} {
		if r.value < r.lo || r.value > r.hi {
			return &UsageError{Flag: r.flag, Reason: strconv.Itoa(r.value) + " is outside " + strconv.Itoa(r.lo) + ".." + strconv.Itoa(r.hi)}
		}
	}
	if c.Deadline <= 0 {
		return &UsageError{Flag: "deadline", Reason: c.Deadline.String() + " is not a positive time"}
	}
	return nil
}

func (c Config) combinations() error {
	switch {
	case c.Connections > 1 && (c.Suite == SuiteSingle || c.Suite == SuiteSparse):
		return &UsageError{Flag: "connections", Reason: "suite " + c.Suite + " has exactly one"}
	case c.Policy == PolicyFull && c.API != APIBatch:
		return &UsageError{Flag: "policy", Reason: "full is about batch calls: give -api=batch"}
	case c.Connections > maxTotal/(c.Messages+c.Warmup+c.Samples):
		return &UsageError{Flag: "messages", Reason: "more than 2^40 messages in all"}
	case c.Role == RoleClient && c.Fault != FaultNone:
		return &UsageError{Flag: "fault", Reason: "only the server misbehaves on request"}
	case c.Role == RoleServer && c.SamplesFile != "":
		return &UsageError{Flag: "samples-file", Reason: "only the client has samples"}
	}
	return nil
}
