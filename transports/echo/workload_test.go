package echo

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"transportbench/transports/wire"
)

// shape is one workload small enough for a test.
type shape struct {
	suite                                                   string
	connections, messages, warmup, samples, window, payload int
	listeners                                               int
}

func (s shape) args() string {
	return fmt.Sprintf("-suite %s -connections %d -messages %d -warmup %d -samples %d -window %d -payload %d -listeners %d -deadline 60s",
		s.suite, s.connections, s.messages, s.warmup, s.samples, s.window, s.payload, max(1, s.listeners))
}

func (s shape) perConn() int { return s.warmup + s.samples + s.messages }

var shapes = []shape{
	{suite: "single", connections: 1, messages: 500, warmup: 10, samples: 30, window: 64, payload: 800},
	{suite: "single", connections: 1, messages: 3, window: 64, payload: 17},
	{suite: "single", connections: 1, messages: 70, samples: 1, window: 1, payload: 64},
	{suite: "sparse", connections: 1, messages: 100, warmup: 5, samples: 200, window: 64, payload: 800},
	{suite: "concurrent", connections: 9, messages: 130, samples: 20, window: 16, payload: 64, listeners: 4},
	{suite: "concurrent", connections: 2, messages: 5, warmup: 1, window: 40, payload: 4096},
	{suite: "loaded", connections: 7, messages: 50, samples: 20, window: 16, payload: 800, listeners: 4},
	{suite: "loaded", connections: 1, messages: 33, window: 3, payload: 17},
}

func TestWorkload(t *testing.T) {
	for _, s := range shapes {
		for _, api := range []string{wire.APISend, wire.APIBatch, "batch-with-waiter"} {
			t.Run(fmt.Sprintf("%s-%dc-%dm-%s", s.suite, s.connections, s.messages, api), func(t *testing.T) {
				waits := api == "batch-with-waiter"
				if waits {
					api = wire.APIBatch
				}
				file := filepath.Join(t.TempDir(), "rtt")
				synctest.Test(t, func(t *testing.T) {
					n := newPipeNet()
					n.waits = waits
					server, client := pair(n, s.args()+" -api "+api, "", "-samples-file "+file)
					if server.code != 0 || client.code != 0 {
						t.Fatalf("exit %d and %d: %s%s", server.code, client.code, server.log, client.log)
					}
					res := client.records(t, wire.RoleClient)[wire.TypeResult].(wire.Result)
					s.checkResult(t, res)
					s.checkDone(t, server.records(t, wire.RoleServer)[wire.TypeDone].(wire.Done))
					s.checkSamples(t, file, res)
				})
			})
		}
	}
}

func (s shape) checkResult(t *testing.T, res wire.Result) {
	t.Helper()
	n := s.connections
	if res.Messages != int64(n*s.messages) || res.Bytes != int64(n*s.messages*s.payload) || res.Verified != int64(n*s.perConn()) || res.Lost != 0 {
		t.Errorf("counts are wrong: %+v", res)
	}
	if (res.Sparse == nil) != (s.samples == 0) || res.Sparse != nil && res.Sparse.N != n*s.samples {
		t.Errorf("sparse: %+v", res.Sparse)
	}
	if loaded := s.suite == wire.SuiteLoaded; (res.Loaded != nil) != loaded || loaded && res.Loaded.N != n*s.messages {
		t.Errorf("loaded: %+v", res.Loaded)
	}
	if len(res.PerConn) != n {
		t.Fatalf("%d connections in the result", len(res.PerConn))
	}
	latest := int64(0)
	for i, c := range res.PerConn {
		latest = max(latest, c.BurstNS)
		// Little's law: the window bounds the time that messages spend in flight.
		if c.RTTSumNS <= 0 || c.RTTSumNS > int64(min(s.window, s.messages))*c.BurstNS {
			t.Errorf("connection %d: sum of RTTs %d in a burst of %d with window %d", i, c.RTTSumNS, c.BurstNS, s.window)
		}
	}
	if latest != res.ElapsedNS {
		t.Errorf("elapsed is %d, the last echo came at %d", res.ElapsedNS, latest)
	}
}

func (s shape) checkDone(t *testing.T, done wire.Done) {
	t.Helper()
	if done.Connections != int64(s.connections) || done.Messages != int64(s.connections*s.perConn()) || len(done.PerListener) != max(1, s.listeners) {
		t.Errorf("server counts are wrong: %+v", done)
	}
	if done.Settings == nil || done.Settings.CongestionControl != "none" {
		t.Errorf("settings of the accepted connection: %+v", done.Settings)
	}
}

// checkSamples compares the file with the result: same number and, for loaded, per connection the same sum.
func (s shape) checkSamples(t *testing.T, file string, res wire.Result) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := wire.NewSamplesReader(f)
	if err != nil {
		t.Fatal(err)
	}
	per := s.samples
	if s.suite == wire.SuiteLoaded {
		per = s.messages
	}
	if r.Connections != s.connections || r.Count != int64(s.connections*per) {
		t.Fatalf("samples file has %d of %d connections", r.Count, r.Connections)
	}
	ns := make([]int64, per)
	for i := range s.connections {
		if _, err := r.Read(ns); err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, v := range ns {
			sum += v
		}
		if s.suite == wire.SuiteLoaded && sum != res.PerConn[i].RTTSumNS {
			t.Errorf("connection %d: samples add up to %d, result says %d", i, sum, res.PerConn[i].RTTSumNS)
		}
	}
}

func TestFaultsAreNoticed(t *testing.T) {
	for _, s := range []shape{shapes[0], shapes[3], shapes[4], shapes[6]} {
		for _, fault := range []string{"flip", "swap", "repeat", "drop", "cut@3", "cut@" + itoa(s.perConn()-3)} {
			for _, api := range []string{wire.APISend, wire.APIBatch} {
				t.Run(s.suite+"-"+fault+"-"+api, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						_, client := pair(newPipeNet(), s.args()+" -api "+api, "-fault "+fault, "")
						e := client.failure(t, wire.RoleClient)
						if client.code != wire.ExitVerification || e.Code != wire.CodeVerification {
							t.Errorf("exit %d, %+v", client.code, e)
						}
					})
				})
			}
		}
	}
}

// The last echo has no successor that would betray what is wrong with it.
func TestFaultOfTheLastMessage(t *testing.T) {
	for fault, want := range map[string]int{"repeat": wire.ExitVerification, "drop": wire.ExitFailed, "flip": wire.ExitVerification} {
		for _, suite := range []string{"single", "concurrent"} {
			for _, api := range []string{wire.APISend, wire.APIBatch} {
				synctest.Test(t, func(t *testing.T) {
					_, client := pair(newPipeNet(), "-messages 1 -deadline 5s -suite "+suite+" -api "+api, "-fault "+fault, "")
					if e := client.failure(t, wire.RoleClient); client.code != want {
						t.Errorf("%s %s %s: exit %d, want %d: %+v", suite, api, fault, client.code, want, e)
					}
				})
			}
		}
	}
}
