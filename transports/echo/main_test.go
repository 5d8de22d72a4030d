package echo

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"transportbench/transports/wire"
)

func TestExitCodes(t *testing.T) {
	const client = "-role client -addr 127.0.0.1:7 "
	sendOnly := newPipeNet()
	sendOnly.desc.APIs = []string{wire.APISend}
	for _, tc := range []struct {
		net  *pipeNet
		args string
		want int
	}{
		{newPipeNet(), "", wire.ExitUsage},
		{newPipeNet(), "describe now", wire.ExitUsage},
		{newPipeNet(), client + "-bogus", wire.ExitUsage},
		{newPipeNet(), client + "-payload 3", wire.ExitUsage},
		{newPipeNet(), "-suite=does-not-exist", wire.ExitUnsupported},
		{newPipeNet(), client + "-workload open", wire.ExitUnsupported},
		{newPipeNet(), client + "-policy default", wire.ExitUnsupported},
		{newPipeNet(), client + "-payload 5001", wire.ExitUnsupported},
		{newPipeNet(), client + "-suite loaded -connections 101", wire.ExitUnsupported},
		{sendOnly, client + "-api batch", wire.ExitUnsupported},
	} {
		i := start(tc.net, nil, tc.args)
		<-i.done
		e := i.failure(t, wire.RoleClient)
		if i.code != tc.want || e.Message == "" || strings.TrimSpace(i.log.String()) != e.Message {
			t.Errorf("%q: exit %d, want %d, record %+v, log %q", tc.args, i.code, tc.want, e, i.log)
		}
	}
}

func TestDescribe(t *testing.T) {
	i := start(newPipeNet(), nil, "describe")
	<-i.done
	d, ok := i.records(t, wire.RoleDescribe)[wire.TypeDescribe].(wire.Describe)
	if i.code != 0 || !ok || d.Contract != wire.ContractVersion || d.Toolchain != runtime.Version() || d.SourceCommit == "" {
		t.Errorf("exit %d, %+v", i.code, d)
	}
}

func TestProcessSettings(t *testing.T) {
	cfg := wire.Default()
	cfg.Role, cfg.Listeners, cfg.RcvBuf = wire.RoleServer, 4, 12345
	s := ProcessSettings(cfg)
	if s.Workers < 1 || s.Workers > 4 || s.GOMAXPROCS != runtime.GOMAXPROCS(0) || s.GOGC == "" || s.GOMEMLIMIT == "" ||
		s.Threads < 1 || len(s.Affinity) == 0 || !slices.IsSorted(s.Affinity) || s.NoFile == 0 || s.Listeners != 4 || s.RcvBufRequested != 12345 {
		t.Errorf("settings: %+v", s)
	}
}

// Written out from the definition: the smallest value with at least p percent of the sample at or below it.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 120; n++ {
		ns := make([]int64, n)
		for i := range ns {
			ns[i] = r.Int64N(50)
		}
		slow := func(p int) int64 {
			for v := int64(0); ; v++ {
				below := 0
				for _, x := range ns {
					if x <= v {
						below++
					}
				}
				if below*100 >= p*n {
					return v
				}
			}
		}
		want := wire.Quantiles{N: n, P50NS: slow(50), P95NS: slow(95), P99NS: slow(99)}
		if got := quantiles(slices.Clone(ns)); *got != want {
			t.Fatalf("n=%d: got %+v, want %+v", n, *got, want)
		}
	}
	if quantiles(nil) != nil {
		t.Error("an empty series has quantiles")
	}
}

func TestGateKeepsTheWindow(t *testing.T) {
	const window, total = 7, 20000
	g := newGate(window)
	inFlight := make(chan int, window) // a full channel shows a window that is too large
	var wg sync.WaitGroup
	wg.Go(func() {
		for range total {
			<-inFlight
			g.free()
		}
	})
	for sent := 0; sent < total; {
		n := g.take(int64(sent), 3)
		if n < 1 || n > 3 {
			t.Fatalf("take returned %d", n)
		}
		for range n {
			select {
			case inFlight <- sent:
			default:
				t.Fatalf("message %d exceeds the window", sent)
			}
			sent++
		}
	}
	wg.Wait()
	g.take(total, 1)
	g.stop()
	if n := g.take(total+window, 1); n != 0 {
		t.Errorf("a stopped gate let %d through", n)
	}
}
