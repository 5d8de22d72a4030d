package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// say writes one record.
func (p *fakeProc) say(r any) {
	b, _ := json.Marshal(r)
	_, _ = fmt.Fprintf(p.out, "%s\n", b)
}

func (p *fakeProc) hello() {
	p.say(wire.Hello{Type: wire.TypeHello, Contract: 1, PID: 7, Settings: wire.Settings{
		Affinity: p.exit.Affinity, Nice: wantNice, NoFile: maxNoFile, API: p.cfg.API, Policy: p.cfg.Policy,
	}})
}

func (p *fakeProc) ready() { p.say(wire.Ready{Type: wire.TypeReady, Addr: p.cfg.Addr.String()}) }

// untilTerm waits for SIGTERM or SIGKILL.
func (p *fakeProc) untilTerm() {
	select {
	case <-p.term:
	case <-p.killed:
	}
}

func honestServer(p *fakeProc) int {
	p.hello()
	p.ready()
	p.untilTerm()
	n := int64(p.cfg.Connections * (p.cfg.Warmup + p.cfg.Samples + p.cfg.Messages))
	p.say(wire.Done{Type: wire.TypeDone, Connections: int64(p.cfg.Connections), Messages: n})
	return 0
}

func (p *fakeProc) result() wire.Result {
	c := p.cfg
	r := wire.Result{
		Type: wire.TypeResult, ElapsedNS: 2_000_000_000, Messages: int64(c.Connections * c.Messages),
		Bytes: int64(c.Connections * c.Messages * c.Payload), Verified: int64(c.Connections * (c.Warmup + c.Samples + c.Messages)),
	}
	for range c.Connections {
		r.PerConn = append(r.PerConn, wire.ConnResult{BurstNS: 1_900_000_000, RTTSumNS: 1_800_000_000 * int64(c.Window)})
	}
	n, q := c.Connections*c.Samples, &r.Sparse
	if c.Suite == wire.SuiteLoaded {
		n, q = c.Connections*c.Messages, &r.Loaded
	}
	if n > 0 {
		*q = &wire.Quantiles{N: n, P50NS: 1000, P95NS: 1000, P99NS: 1000}
	}
	return r
}

func (p *fakeProc) samples(n int) {
	kind := wire.SamplesSparse
	if p.cfg.Suite == wire.SuiteLoaded {
		kind = wire.SamplesLoaded
	}
	ns := make([]int64, n)
	for i := range ns {
		ns[i] = 1000
	}
	_ = wire.WriteSamples(p.spec.Samples, kind, p.cfg.Connections, ns)
}

func (p *fakeProc) begin() {
	p.hello()
	p.say(wire.Connected{Type: wire.TypeConnected, N: p.cfg.Connections, SetupNS: 5, Settings: &wire.Settings{CongestionControl: "cubic"}})
	p.say(wire.Start{Type: wire.TypeStart, MonoNS: 1})
}

func honestClient(p *fakeProc) int { return clientSaying(func(*wire.Result) {})(p) }

// clientSaying is honest but for one change of its result.
func clientSaying(change func(r *wire.Result)) behaviour {
	return func(p *fakeProc) int {
		p.begin()
		r := p.result()
		change(&r)
		n := p.cfg.Connections * p.cfg.Samples
		if p.cfg.Suite == wire.SuiteLoaded {
			n = p.cfg.Connections * p.cfg.Messages
		}
		p.samples(n)
		p.say(r)
		return 0
	}
}

// testPlan has one profile of each suite and two columns; link is the first one's.
func testPlan(t testing.TB, repetitions int, change func(p *matrix.Profile)) *matrix.Plan {
	t.Helper()
	plan := &matrix.Plan{Matrix: "test", Kind: "custom", Seed: "seed", Hash: "plan-hash", NoFile: 64, Deadlines: matrix.Deadlines{
		Client: 450 * time.Second, ServerExtra: 10 * time.Second, Ready: 10 * time.Second, Stop: 5 * time.Second,
	}}
	for i, suite := range []string{wire.SuiteSingle, wire.SuiteLoaded} {
		p := matrix.Profile{
			ID: fmt.Sprintf("%s-800B-%dc-l0-d0", suite, 1+3*i), Suite: suite, PayloadBytes: 800, Connections: 1 + 3*i, Messages: 50, Warmup: 5, Samples: 10,
			Window: 16, Listeners: 1, Placement: matrix.PlacementSplit, Workers: 4, Deadline: 450 * time.Second,
			Link: matrix.LinkSpec{MTU: 1500, Backend: "nft", Topology: "lo"},
		}
		if suite == wire.SuiteLoaded {
			p.Samples = 0
		}
		if change != nil {
			change(&p)
		}
		for rep := range repetitions {
			for _, v := range []string{"tcp", "other"} {
				plan.Runs = append(plan.Runs, matrix.Run{
					ID: fmt.Sprintf("%s/%s/r%d", p.ID, v, rep+1), Index: len(plan.Runs), Block: i*repetitions + rep, Profile: p, Repetition: rep + 1,
					Variant: matrix.Variant{Name: v, Driver: v, API: wire.APISend, Policy: wire.PolicyOff, GSO: matrix.GSOOff, BuffersOn: matrix.BuffersBoth},
				})
			}
		}
	}
	return plan
}

// tempDir is in memory where the system has such a folder: journals sync every line.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "runner-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func saying(text string) behaviour {
	return func(p *fakeProc) int {
		p.hello()
		_, _ = p.out.Write([]byte(text))
		return 0
	}
}

// complaining ends with an error record and a status.
func complaining(code, message string, status int) behaviour {
	return func(p *fakeProc) int {
		p.hello()
		p.say(wire.Error{Type: wire.TypeError, Code: code, Message: message})
		return status
	}
}

func hanging(p *fakeProc) int {
	p.hello()
	<-p.killed
	return -1
}

func miscounting(p *fakeProc) int {
	p.hello()
	p.ready()
	p.untilTerm()
	p.say(wire.Done{Type: wire.TypeDone, Connections: int64(p.cfg.Connections), Messages: 3})
	return 0
}

func stubborn(p *fakeProc) int {
	p.ignoreTERM = true
	p.hello()
	p.ready()
	<-p.killed
	return -1
}

func elsewhere(p *fakeProc) int {
	p.hello()
	p.say(wire.Ready{Type: wire.TypeReady, Addr: "10.0.0.1:80"})
	<-p.killed
	return -1
}

// write adds to the log.
func (p *fakeProc) write(text string) { _, _ = p.log.Write([]byte(text)) }

func only(role string, b behaviour) func(wire.Config, string) behaviour {
	return func(_ wire.Config, r string) behaviour {
		if r == role {
			return b
		}
		return nil
	}
}

func both(server, client behaviour) func(wire.Config, string) behaviour {
	return func(_ wire.Config, r string) behaviour {
		if r == "server" {
			return server
		}
		return client
	}
}

func endless(p *fakeProc) int {
	for i := range 1 << 20 {
		if _, err := p.out.Write([]byte(strings.Repeat("y", 1000) + "\n")); err != nil || i > 1<<15 {
			return -1
		}
	}
	return 0
}

func quantiles(r *wire.Result) *wire.Quantiles {
	if r.Loaded != nil {
		return r.Loaded
	}
	return r.Sparse
}

func reno(p *fakeProc) int {
	p.hello()
	p.say(wire.Connected{Type: wire.TypeConnected, N: p.cfg.Connections, SetupNS: 5, Settings: &wire.Settings{CongestionControl: "reno"}})
	p.say(wire.Start{Type: wire.TypeStart, MonoNS: 1})
	p.samples(max(p.cfg.Connections*p.cfg.Samples, map[string]int{wire.SuiteLoaded: p.cfg.Connections * p.cfg.Messages}[p.cfg.Suite]))
	p.say(p.result())
	return 0
}

// watch is a Progress made of a function.
type watch func(Event)

func (w watch) Event(e Event) { w(e) }
func (w watch) Close() error  { return nil }
