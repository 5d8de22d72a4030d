//go:build linux && baseline

package udp

import (
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"transportbench/transports/wire"
)

func loopbackPort(port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
}

// seconds is how long an independent program measures.
const seconds = "1"

func sparse() wire.Config {
	cfg := wire.Default()
	cfg.Suite, cfg.Warmup, cfg.Samples, cfg.Messages = wire.SuiteSparse, 1000, 10_000, 100
	return cfg
}

func sparseP50(name string) func(*testing.T, *bench) float64 {
	return func(t *testing.T, b *bench) float64 {
		res, _ := b.drive(t, name, sparse())
		return float64(res.Sparse.P50NS) / 1e3
	}
}

func sparseMean(name string) func(*testing.T, *bench) float64 {
	return func(t *testing.T, b *bench) float64 {
		_, mean := b.drive(t, name, sparse())
		return mean / 1e3
	}
}

func meanOf(t *testing.T, path string) float64 {
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
	ns, sum := make([]int64, r.Count), int64(0)
	if _, err := r.Read(ns); err != nil {
		t.Fatal(err)
	}
	for _, v := range ns {
		sum += v
	}
	return float64(sum) / float64(len(ns))
}

func echoRate(name string, payload int) func(*testing.T, *bench) float64 {
	return func(t *testing.T, b *bench) float64 {
		cfg := wire.Default()
		cfg.Payload, cfg.Warmup, cfg.Samples, cfg.Messages = payload, 100, 300, 100_000
		res, _ := b.drive(t, name, cfg)
		if res.Lost > 0 {
			t.Logf("udp: %d of %d echoes lost", res.Lost, res.Messages)
		}
		return float64(res.Bytes) / float64(payload) / float64(res.ElapsedNS) * 1e9
	}
}

func pairRate(name, client string, payload int) func(*testing.T, *bench) float64 {
	return func(t *testing.T, b *bench) float64 { return b.pair(t, name, client, payload, 64, 100_000) }
}

// pairMean is a round trip of a C pair in us, with one record under way.
func pairMean(name string) func(*testing.T, *bench) float64 {
	return func(t *testing.T, b *bench) float64 { return 1e6 / b.pair(t, name, "client", 800, 1, 10_000) }
}

// pair returns a C pair's echoes a second.
func (b *bench) pair(t *testing.T, name, client string, payload, window, count int) float64 {
	t.Helper()
	b.port++
	port := strconv.Itoa(b.port)
	defer b.serve(t, "ready", name, "server", port)()
	return number(t, b.call(t, name, client, port, strconv.Itoa(payload), strconv.Itoa(window), strconv.Itoa(count)), `(?m)^(\d+)$`)
}

// sockperf reports whole round trips with --full-rtt; its receive blocks, as the drivers' do.
func sockperf(transport string) func(*testing.T, *bench) float64 {
	return func(t *testing.T, b *bench) float64 {
		b.port++
		path, args := find(t, "sockperf"), []string{"-i", "127.0.0.1", "-p", strconv.Itoa(b.port)}
		if transport != "" {
			args = append(args, transport)
		}
		defer b.serve(t, "to block on socket", path, append([]string{"server"}, args...)...)()
		out := b.call(t, path, append(append([]string{"ping-pong"}, args...), "-m", "800", "-t", seconds, "--full-rtt")...)
		return number(t, out, `percentile 50\.000 += +([\d.]+)`)
	}
}

// qperf reports half the mean round trip.
func qperf(test string) func(*testing.T, *bench) float64 {
	return func(t *testing.T, b *bench) float64 {
		b.port++
		path, port := find(t, "qperf"), strconv.Itoa(b.port)
		server := b.command(b.server, path, "-lp", port)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = server.Process.Signal(syscall.SIGTERM)
			_ = server.Wait()
		}()
		// -uu keeps ns whatever the size; qperf itself waits up to 5 s for its server.
		out := b.call(t, path, "127.0.0.1", "-lp", port, "-uu", "-m", "800", "-t", seconds, test)
		return 2 * number(t, out, `latency += +([\d.]+)`) / 1e3
	}
}

func find(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("unsupported: %s is not installed (Debian package %s)", name, name)
	}
	return path
}

func number(t *testing.T, text, pattern string) float64 {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%s is not in %s", pattern, text)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
