package sandbox_test

import (
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"transportbench/pipeline/sandbox"
	"transportbench/pipeline/sandbox/runtimetest"
)

// BenchmarkRunOverhead is what one run pays besides its drivers: network, two starts, end. The budget is 100 ms, median.
func BenchmarkRunOverhead(b *testing.B) {
	l := newTestLocal(b)
	phases := map[string][]time.Duration{}
	for b.Loop() {
		begin := time.Now()
		last := begin
		note := func(phase string) {
			now := time.Now()
			phases[phase] = append(phases[phase], now.Sub(last))
			last = now
		}
		env, err := l.Open(b.Context(), runtimetest.Spec())
		if err != nil {
			b.Fatal(err)
		}
		note("open")
		runTrue(b, env)
		note("driver-1")
		runTrue(b, env)
		note("driver-2")
		if err := env.Close(); err != nil {
			b.Fatal(err)
		}
		note("close")
		phases["all"] = append(phases["all"], time.Since(begin))
	}
	for phase, d := range phases {
		slices.Sort(d)
		b.ReportMetric(float64(d[len(d)/2].Microseconds()), phase+"-p50-us")
		b.ReportMetric(float64(d[len(d)*9/10].Microseconds()), phase+"-p90-us")
	}
}

// BenchmarkHost is the price of the counters around a run.
func BenchmarkHost(b *testing.B) {
	l := newTestLocal(b)
	env, err := l.Open(b.Context(), runtimetest.Spec())
	if err != nil {
		b.Fatal(err)
	}
	defer env.Close()
	for b.Loop() {
		if _, err := env.Host(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNoDescriptorsLeft opens, uses and closes networks in every way that leaves something open.
func TestNoDescriptorsLeft(t *testing.T) {
	l := newTestLocal(t)
	use := func() {
		env, err := l.Open(t.Context(), runtimetest.Spec())
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"exit", "0"}, {"deaf"}} { // one that has ended unread, one that runs
			if _, err := env.Start(t.Context(), sandbox.ProcSpec{Name: "server", Path: self(t), Args: append([]string{runtimetest.ProbeArg}, args...)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := env.Close(); err != nil {
			t.Fatal(err)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	}
	use() // opens what stays, such as the poller
	before := descriptors(t)
	for range 5 {
		use()
	}
	if after := descriptors(t); after != before {
		t.Errorf("descriptors: %d, then %d", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

func runTrue(b *testing.B, env sandbox.Env) {
	b.Helper()
	p, err := env.Start(b.Context(), sandbox.ProcSpec{Name: "server", Path: "/bin/true"})
	if err != nil {
		b.Fatal(err)
	}
	logs := make(chan struct{})
	go func() {
		defer close(logs)
		io.Copy(io.Discard, p.Stderr())
	}()
	io.Copy(io.Discard, p.Stdout())
	<-logs
	if err := p.Wait(); err != nil {
		b.Fatal(err)
	}
}
