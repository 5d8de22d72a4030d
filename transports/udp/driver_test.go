//go:build linux

package udp

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"transportbench/transports/wire"
)

func TestBursts(t *testing.T) {
	many := func(c *wire.Config) {
		c.Connections, c.Messages, c.Window, c.Listeners, c.Warmup = 12, 60, 4, 4, 0
	}
	for _, c := range []struct {
		name   string
		change func(*wire.Config)
	}{
		{"single 800", nil},
		{"single 17", func(c *wire.Config) { c.Payload = 17 }},
		{"single 4096", func(c *wire.Config) { c.Payload = 4096 }},
		{"single gso", func(c *wire.Config) { c.GSO = true }},
		{"single 4096 gso", func(c *wire.Config) { c.Payload, c.GSO = 4096, true }},
		{"single wide window", func(c *wire.Config) { c.Window = 200 }},
		{"window of one", func(c *wire.Config) { c.Window = 1 }},
		{"no rounds", func(c *wire.Config) { c.Warmup, c.Samples = 0, 0 }},
		{"sparse", func(c *wire.Config) { c.Suite = wire.SuiteSparse }},
		{"concurrent", func(c *wire.Config) { many(c); c.Suite = wire.SuiteConcurrent }},
		{"concurrent gso", func(c *wire.Config) { many(c); c.Suite, c.GSO = wire.SuiteConcurrent, true }},
		{"concurrent 4096", func(c *wire.Config) { many(c); c.Suite, c.Payload = wire.SuiteConcurrent, 4096 }},
		{"loaded", func(c *wire.Config) { many(c); c.Suite = wire.SuiteLoaded }},
		{"more workers than connections", func(c *wire.Config) { c.Suite, c.Connections, c.Workers = wire.SuiteConcurrent, 3, 8 }},
	} {
		t.Run(c.name, func(t *testing.T) { checkBurst(t, config(wire.SuiteSingle, c.change)) })
	}
}

// attempts is how often a count that must be exact may be tried: a machine that stalls for over 50 ms in the middle of a run
// loses echoes that nobody dropped.
const attempts = 5

func checkBurst(t *testing.T, cfg wire.Config) {
	t.Helper()
	for range attempts {
		server, to := startServer(t, cfg)
		asked := cfg
		asked.SamplesFile = filepath.Join(t.TempDir(), "rtt")
		code, r := runClient(t, asked, to)
		if code != wire.ExitOK {
			t.Fatalf("client exits %d: %s", code, r.byType[wire.TypeError])
		}
		res := checkRecords(t, cfg, r)
		done := server.end(t)
		if res.Lost == 0 {
			checkLossless(t, asked, res, done)
			return
		}
	}
	t.Errorf("echoes were lost in each of %d runs on loopback", attempts)
}

func checkRecords(t *testing.T, cfg wire.Config, r records) wire.Result {
	t.Helper()
	want := []string{wire.TypeHello, wire.TypeConnected, wire.TypeStart, wire.TypeConnections, wire.TypeResult}
	if !slices.Equal(r.order, want) {
		t.Errorf("records %v, want %v", r.order, want)
	}
	res := get[wire.Result](t, r, wire.TypeResult)
	all := int64(cfg.Connections * (cfg.Warmup + cfg.Samples + cfg.Messages))
	if res.Verified+res.Lost != all || res.Messages != int64(cfg.Connections*cfg.Messages) {
		t.Errorf("verified %d + lost %d of %d, burst %d", res.Verified, res.Lost, all, res.Messages)
	}
	s, err := newShape(cfg.Payload, cfg.MTU)
	if err != nil {
		t.Fatal(err)
	}
	if *res.Datagrams != all*int64(s.fragments) {
		t.Errorf("%d datagrams, want %d", *res.Datagrams, all*int64(s.fragments))
	}
	return res
}

func checkLossless(t *testing.T, cfg wire.Config, res wire.Result, done wire.Done) {
	t.Helper()
	if res.Bytes != res.Messages*int64(cfg.Payload) || res.ElapsedNS <= 0 {
		t.Errorf("bytes %d in %d ns", res.Bytes, res.ElapsedNS)
	}
	if done.Messages != res.Verified || done.Connections != int64(cfg.Connections) || len(done.PerListener) != cfg.Listeners {
		t.Errorf("server counts %+v, client verified %d on %d connections", done, res.Verified, cfg.Connections)
	}
	want := cfg.Connections * cfg.Samples
	if cfg.Suite == wire.SuiteLoaded {
		if res.Loaded == nil || res.Loaded.N != cfg.Connections*cfg.Messages {
			t.Errorf("loaded %+v", res.Loaded)
		}
		want = cfg.Connections * cfg.Messages
	}
	if got := countSamples(t, cfg.SamplesFile, cfg.Connections); got != want {
		t.Errorf("%d samples in the file, want %d", got, want)
	}
}

func countSamples(t *testing.T, path string, connections int) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := wire.NewSamplesReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if r.Connections != connections {
		t.Errorf("samples of %d connections, want %d", r.Connections, connections)
	}
	ns := make([]int64, r.Count+1)
	n, err := r.Read(ns)
	if err != io.EOF {
		t.Fatal(err)
	}
	return n
}

func TestFaultsOfTheServer(t *testing.T) {
	for _, payload := range []int{64, 4096} {
		for _, c := range []struct {
			fault string
			code  int
			lost  int64
		}{
			{wire.FaultFlip, wire.ExitVerification, 0},
			{wire.FaultDrop, wire.ExitOK, 1},
			{wire.FaultRepeat, wire.ExitOK, 0},
			{wire.FaultSwap, wire.ExitOK, 0},
		} {
			t.Run(fmt.Sprint(c.fault, payload), func(t *testing.T) {
				cfg := config(wire.SuiteSingle, func(w *wire.Config) { w.Payload, w.Fault = payload, c.fault })
				_, to := startServer(t, cfg)
				cfg.Fault = wire.FaultNone
				code, r := runClient(t, cfg, to)
				if code != c.code {
					t.Fatalf("client exits %d, want %d: %s", code, c.code, r.byType[wire.TypeError])
				}
				if code == wire.ExitOK && get[wire.Result](t, r, wire.TypeResult).Lost < c.lost {
					t.Errorf("lost nothing, want %d", c.lost)
				}
			})
		}
	}
}

func TestCutLosesTheRest(t *testing.T) {
	cfg := config(wire.SuiteSingle, func(c *wire.Config) { c.Fault, c.FaultAt, c.Messages, c.Window = wire.FaultCut, 30, 10, 64 })
	_, to := startServer(t, cfg)
	cfg.Fault = wire.FaultNone
	code, r := runClient(t, cfg, to)
	if code != wire.ExitOK {
		t.Fatalf("client exits %d: %s", code, r.byType[wire.TypeError])
	}
	// Messages 0-29 come back, 30-34 do not.
	if res := get[wire.Result](t, r, wire.TypeResult); res.Lost < 5 || res.Verified > 30 {
		t.Errorf("lost %d verified %d, want 5 and 30", res.Lost, res.Verified)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"unknown suite", []string{"-suite=does-not-exist"}, wire.ExitUnsupported},
		{"unknown flag", []string{"-speed=9"}, wire.ExitUsage},
		{"batch", []string{"-role=client", "-addr=127.0.0.1:1", "-api=batch"}, wire.ExitUnsupported},
		{"policy", []string{"-role=client", "-addr=127.0.0.1:1", "-policy=default"}, wire.ExitUnsupported},
		{"payload", []string{"-role=client", "-addr=127.0.0.1:1", "-payload=65536"}, wire.ExitUnsupported},
		{"connections", []string{"-role=client", "-addr=127.0.0.1:1", "-suite=loaded", "-connections=9000"}, wire.ExitUnsupported},
		{"address of another machine", []string{"-role=server", "-addr=192.0.2.1:1"}, wire.ExitFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if code := Main(c.args, nil, &out, t.Output()); code != c.code {
				t.Errorf("exit %d, want %d: %s", code, c.code, out.String())
			}
			if r := parse(t, out.Bytes()); r.order[len(r.order)-1] != wire.TypeError {
				t.Errorf("last record is %v", r.order)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	var out bytes.Buffer
	if code := Main([]string{"describe"}, nil, &out, t.Output()); code != wire.ExitOK {
		t.Fatalf("exit %d", code)
	}
	if d := get[wire.Describe](t, parse(t, out.Bytes()), wire.TypeDescribe); d.Reliable || d.Contract != wire.ContractVersion || d.Transport != "udp" {
		t.Errorf("%+v", d)
	}
}
