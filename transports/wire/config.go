// Package wire is the contract between bench and a driver: flags, record types and exit codes.
package wire

import (
	"flag"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"time"
)

// ContractVersion is the version of the driver contract that this package describes.
const ContractVersion = 1

// Suites, in published order.
const (
	SuiteSingle     = "single"
	SuiteSparse     = "sparse"
	SuiteConcurrent = "concurrent"
	SuiteLoaded     = "loaded"
)

// Values of the enumerated flags.
const (
	RoleServer = "server"
	RoleClient = "client"

	APISend  = "send"
	APIBatch = "batch"

	PolicyOff     = "off"
	PolicyDefault = "default"
	PolicyFull    = "full" // batch calls pack to the MTU instead of a fixed number of messages

	FaultNone   = "none"
	FaultFlip   = "flip"   // one byte of one echo is wrong
	FaultSwap   = "swap"   // two echoes change places
	FaultRepeat = "repeat" // one echo is sent twice
	FaultDrop   = "drop"   // one echo is never sent
	FaultCut    = "cut"    // the connection ends after message N (flag value cut@N)
)

// Features that a driver may list in its description.
const (
	FeaturePolicy     = "policy"      // takes -policy=default
	FeaturePolicyFull = "policy-full" // takes -policy=full
	FeatureUnreliable = "unreliable"  // reserved
)

// PolicyFeature names the feature that a driver needs for a policy; empty: every driver has it.
func PolicyFeature(policy string) string {
	switch policy {
	case PolicyDefault:
		return FeaturePolicy
	case PolicyFull:
		return FeaturePolicyFull
	}
	return ""
}

// MinPayload is the smallest payload in bytes that can carry the marker, the connection index and the message number.
const MinPayload = 17

// Config is one driver invocation. Args and Parse are inverse to each other.
type Config struct {
	Role        string
	Suite       string
	Addr        netip.AddrPort
	API         string
	Policy      string
	Connections int
	Messages    int // burst messages per connection
	Payload     int // bytes
	Window      int // messages awaiting their echo, per connection
	Warmup      int // sequential rounds per connection, not recorded
	Samples     int // sequential rounds per connection, recorded
	Workers     int // 0: min(4, CPUs of the process)
	Listeners   int
	MTU         int // nominal packet size in the transport's own terms; 0: its default
	RcvBuf      int // bytes; 0: leave the kernel's default
	SndBuf      int // bytes; 0: leave the kernel's default
	GSO         bool
	Workload    string
	Schedule    string // reserved
	Deadline    time.Duration
	SamplesFile string // client only; empty: none is written
	Seed        int64
	StopOnEOF   bool
	Fault       string // server only
	FaultAt     int    // message number of a cut
}

// Default returns the configuration that Parse starts from.
func Default() Config {
	return Config{
		Role: "", Suite: SuiteSingle, API: APISend, Policy: PolicyOff, Connections: 1, Messages: 1, Payload: 800,
		Window: 64, Listeners: 1, Workload: "closed", Deadline: 450 * time.Second, Fault: FaultNone,
	}
}

// flags binds every flag of the contract to c. One list serves Parse, Args and the usage text.
func (c *Config) flags(w io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet("driver", flag.ContinueOnError)
	fs.SetOutput(w)
	fs.StringVar(&c.Role, "role", c.Role, "server or client")
	fs.StringVar(&c.Suite, "suite", c.Suite, "single, sparse, concurrent or loaded")
	fs.TextVar(&c.Addr, "addr", c.Addr, "`IP:PORT` to listen on or to dial")
	fs.StringVar(&c.API, "api", c.API, "send or batch")
	fs.StringVar(&c.Policy, "policy", c.Policy, "send policy: off, default or full")
	fs.IntVar(&c.Connections, "connections", c.Connections, "number of connections")
	fs.IntVar(&c.Messages, "messages", c.Messages, "burst messages per connection")
	fs.IntVar(&c.Payload, "payload", c.Payload, "payload of one message in bytes, at least 17")
	fs.IntVar(&c.Window, "window", c.Window, "messages awaiting their echo, per connection")
	fs.IntVar(&c.Warmup, "warmup", c.Warmup, "sequential rounds before recording, per connection")
	fs.IntVar(&c.Samples, "samples", c.Samples, "recorded sequential rounds, per connection")
	fs.IntVar(&c.Workers, "workers", c.Workers, "worker threads (0: min(4, CPUs of the process))")
	fs.IntVar(&c.Listeners, "listeners", c.Listeners, "listening sockets of the server (SO_REUSEPORT)")
	fs.IntVar(&c.MTU, "mtu", c.MTU, "nominal packet size (0: the transport's default)")
	fs.IntVar(&c.RcvBuf, "rcvbuf", c.RcvBuf, "SO_RCVBUF in bytes (0: kernel default)")
	fs.IntVar(&c.SndBuf, "sndbuf", c.SndBuf, "SO_SNDBUF in bytes (0: kernel default)")
	fs.Var((*onOff)(&c.GSO), "gso", "UDP segmentation offload: off or on")
	fs.StringVar(&c.Workload, "workload", c.Workload, "closed (open, bulk, mixed and churn are reserved)")
	fs.StringVar(&c.Schedule, "schedule", c.Schedule, "reserved")
	fs.DurationVar(&c.Deadline, "deadline", c.Deadline, "give up after this time")
	fs.StringVar(&c.SamplesFile, "samples-file", c.SamplesFile, "write raw RTTs to `PATH`")
	fs.Int64Var(&c.Seed, "seed", c.Seed, "seed of whatever the driver draws at random")
	fs.BoolVar(&c.StopOnEOF, "stop-on-eof", c.StopOnEOF, "server: stop when standard input ends")
	fs.Var((*fault)(c), "fault", "server, conformance only: none, flip, swap, repeat, drop or cut@N")
	return fs
}

// Args renders c as the argument list of a driver, in the order of the flag names.
func (c Config) Args() []string {
	var args []string
	c.flags(io.Discard).VisitAll(func(f *flag.Flag) {
		v := f.Value.String()
		if f.Name == "addr" && !c.Addr.IsValid() || v == "" && f.DefValue == "" {
			return
		}
		args = append(args, "-"+f.Name+"="+v)
	})
	return args
}

type onOff bool

func (b *onOff) String() string {
	if b != nil && bool(*b) {
		return "on"
	}
	return "off"
}

func (b *onOff) Set(s string) error {
	switch s {
	case "on":
		*b = true
	case "off":
		*b = false
	default:
		return fmt.Errorf("%q is neither on nor off", s)
	}
	return nil
}

// fault parses "-fault cut@N" into two fields of a Config.
type fault Config

func (f *fault) String() string {
	if f == nil || f.Fault == "" {
		return FaultNone
	}
	if f.Fault == FaultCut {
		return FaultCut + "@" + strconv.Itoa(f.FaultAt)
	}
	return f.Fault
}

func (f *fault) Set(s string) error {
	switch s {
	case FaultNone, FaultFlip, FaultSwap, FaultRepeat, FaultDrop:
		f.Fault = s
		return nil
	}
	n, ok := cutAt(s)
	if !ok {
		return fmt.Errorf("unknown fault %q: want none, flip, swap, repeat, drop or cut@N", s)
	}
	f.Fault, f.FaultAt = FaultCut, n
	return nil
}

func cutAt(s string) (int, bool) {
	if len(s) < 5 || s[:4] != "cut@" {
		return 0, false
	}
	n, err := strconv.Atoi(s[4:])
	return n, err == nil && n >= 0
}
