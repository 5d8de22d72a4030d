package wire

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// must is the shortest invocation that parses.
const must = "-role client -addr 127.0.0.1:19342 "

// refused maps arguments to a part of the usage error that they must give.
var refused = map[string]string{
	"":                               "flag -role",
	"-role client":                   "flag -addr: missing",
	"-addr 127.0.0.1:1":              "flag -role",
	must + "-bogus 1":                "flag provided but not defined: -bogus",
	must + "stray":                   `stray argument "stray"`,
	must + "-stop-on-eof true":       `stray argument "true"`,
	must + "-- -payload 3":           `stray argument "-payload"`,
	must + "-payload 16":             "flag -payload: 16 is outside 17..",
	must + "-payload=-1":             "flag -payload",
	must + "-payload 8OO":            "payload",
	must + "-payload 99999999999999": "flag -payload",
	must + "-connections 0":          "flag -connections",
	must + "-messages 0":             "flag -messages",
	must + "-window 0":               "flag -window",
	must + "-listeners 0":            "flag -listeners",
	must + "-warmup -1":              "flag -warmup",
	must + "-samples -1":             "flag -samples",
	must + "-workers -1":             "flag -workers",
	must + "-mtu -1":                 "flag -mtu",
	must + "-rcvbuf -1":              "flag -rcvbuf",
	must + "-sndbuf -1":              "flag -sndbuf",
	must + "-deadline 0s":            "flag -deadline",
	must + "-deadline 5":             "deadline",
	must + "-api burst":              "flag -api",
	must + "-policy on":              "flag -policy",
	must + "-policy full":            "flag -policy: full is about batch calls",
	must + "-gso maybe":              "gso",
	must + "-addr localhost":         "addr",
	must + "-fault melt":             "fault",
	must + "-fault cut@":             "fault",
	must + "-fault cut@-1":           "fault",
	must + "-fault flip":             "flag -fault: only the server",
	must + "-connections 2":          "flag -connections: suite single has exactly one",
	must + "-payload":                "payload",
	must + "-messages 4294967296 -connections 1048576 -suite loaded": "more than 2^40 messages",
	must + "-help": "help was asked for",
	"-role server -addr 127.0.0.1:1 -samples-file x": "flag -samples-file",
}

func TestParseRefuses(t *testing.T) {
	for args, want := range refused {
		_, err := Parse(strings.Fields(args), io.Discard)
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want a usage error with %q", args, err, want)
		}
		if code, rec := Failure(err); code != ExitUsage || rec.Code != CodeUsage {
			t.Errorf("%q: exit %d, code %s", args, code, rec.Code)
		}
	}
}

func TestParseUnsupported(t *testing.T) {
	for _, args := range []string{
		"-suite=does-not-exist", "--suite does-not-exist", must + "-workload open", must + "-workload bulk", must + "-schedule f",
	} {
		_, err := Parse(strings.Fields(args), io.Discard)
		if code, rec := Failure(err); code != ExitUnsupported || rec.Code != CodeUnsupported {
			t.Errorf("%q: got %v, exit %d", args, err, code)
		}
	}
}

func TestParseForms(t *testing.T) {
	for _, args := range []string{
		must + "-payload 64 -stop-on-eof", must + "--payload 64 --stop-on-eof", must + "-payload=64 -stop-on-eof=true", must + "-payload 17 --payload=64 -stop-on-eof",
	} {
		c, err := Parse(strings.Fields(args), io.Discard)
		if err != nil || c.Payload != 64 || !c.StopOnEOF {
			t.Errorf("%q: got %+v, %v", args, c, err)
		}
	}
	var help strings.Builder
	if _, err := Parse([]string{"-h"}, &help); err == nil || !strings.Contains(help.String(), "-samples-file") {
		t.Errorf("help: got %v and %q", err, help.String())
	}
}

// randomConfig draws a valid configuration.
func randomConfig(r *rand.Rand) Config {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	c := Config{
		Role: pick(RoleServer, RoleClient), Suite: pick(SuiteSingle, SuiteSparse, SuiteConcurrent, SuiteLoaded),
		Addr: netip.AddrPortFrom(netip.MustParseAddr(pick("127.0.0.1", "::1", "10.0.0.9")), uint16(r.IntN(1<<16))),
		API:  pick(APISend, APIBatch), Policy: pick(PolicyOff, PolicyDefault), Connections: 1, Messages: 1 + r.IntN(1<<20),
		Payload: MinPayload + r.IntN(4096), Window: 1 + r.IntN(100), Warmup: r.IntN(100), Samples: r.IntN(100), Workers: r.IntN(9),
		Listeners: 1 + r.IntN(8), MTU: r.IntN(1500), RcvBuf: r.IntN(1 << 21), SndBuf: r.IntN(1 << 21), GSO: r.IntN(2) == 0,
		Workload: "closed", Deadline: time.Duration(1 + r.Int64N(1e12)), Seed: r.Int64() - r.Int64(), StopOnEOF: r.IntN(2) == 0, Fault: FaultNone,
	}
	if c.API == APIBatch && r.IntN(3) == 0 {
		c.Policy = PolicyFull
	}
	if c.Suite == SuiteConcurrent || c.Suite == SuiteLoaded {
		c.Connections = 1 + r.IntN(2048)
	}
	if c.Role == RoleClient {
		c.SamplesFile = pick("", "/results/a b.rtt")
		return c
	}
	if c.Fault = pick(FaultNone, FaultFlip, FaultSwap, FaultRepeat, FaultDrop, FaultCut); c.Fault == FaultCut {
		c.FaultAt = r.IntN(1000)
	}
	return c
}

func TestArgsAndParseAreInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		want := randomConfig(r)
		got, err := Parse(want.Args(), io.Discard)
		if err != nil || got != want {
			t.Fatalf("%v\nwant %+v\ngot  %+v, %v", want.Args(), want, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(must + "-payload=64 -fault none")
	f.Add("-suite=x -role")
	f.Fuzz(func(t *testing.T, args string) {
		c, err := Parse(strings.Split(args, " "), io.Discard)
		if err != nil {
			if code, _ := Failure(err); code != ExitUsage && code != ExitUnsupported {
				t.Fatalf("%q: exit %d for %v", args, code, err)
			}
			return
		}
		if again, err := Parse(c.Args(), io.Discard); err != nil || again != c {
			t.Fatalf("%q does not survive: %+v, %+v, %v", args, c, again, err)
		}
	})
}
