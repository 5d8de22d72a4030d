//go:build linux

package udp

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"transportbench/transports/wire"
)

// loopback and the source ports keep tests that run at the same time apart: this package from another run of itself, and from others.
var loopback = netip.AddrFrom4([4]byte{127, 73, byte(os.Getpid() >> 8), byte(os.Getpid())})

// patient waits longer for an echo than a measurement does, so that a stall of a busy machine is rarely taken for a loss.
var patient = environment{firstPort: 12_000, lostNS: 300_000_000}

// records holds the last record of each type and the lines in order.
type records struct {
	order  []string
	byType map[string]json.RawMessage
}

func parse(t *testing.T, out []byte) records {
	t.Helper()
	r := records{byType: map[string]json.RawMessage{}}
	for line := range bytes.Lines(out) {
		var head struct{ Type string }
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		r.order = append(r.order, head.Type)
		r.byType[head.Type] = bytes.Clone(line)
	}
	return r
}

func get[T any](t *testing.T, r records, name string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(r.byType[name], &v); err != nil {
		t.Fatalf("record %s %s: %v", name, r.byType[name], err)
	}
	return v
}

// running is a server in this process. It is its own standard output: every record comes in one write.
type running struct {
	stop chan os.Signal
	code chan int
	addr chan string

	mu  sync.Mutex
	out bytes.Buffer
}

func (s *running) Write(line []byte) (int, error) {
	var ready wire.Ready
	if err := json.Unmarshal(line, &ready); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ready.Type == wire.TypeReady {
		s.addr <- ready.Addr
	}
	return s.out.Write(line)
}

// startServer returns when the server listens; it is stopped at the latest when the test ends.
func startServer(t *testing.T, cfg wire.Config) (*running, netip.AddrPort) {
	t.Helper()
	cfg.Role, cfg.Addr = wire.RoleServer, netip.AddrPortFrom(loopback, 0)
	s := &running{stop: make(chan os.Signal, 2), code: make(chan int, 1), addr: make(chan string, 1)}
	d := driver{stdin: bytes.NewReader(nil), out: wire.NewWriter(s), stderr: t.Output(), stop: s.stop}
	ended := make(chan struct{})
	go func() { // ends with the server
		s.code <- d.main(cfg.Args())
		close(ended)
	}()
	t.Cleanup(func() {
		s.stop <- syscall.SIGTERM
		<-ended
	})
	select {
	case addr := <-s.addr:
		return s, netip.MustParseAddrPort(addr)
	case <-ended:
		t.Fatalf("server ends before it listens: %s", s.out.String())
		return nil, netip.AddrPort{}
	}
}

// end stops the server and returns what it counted.
func (s *running) end(t *testing.T) wire.Done {
	t.Helper()
	s.stop <- syscall.SIGTERM
	if code := <-s.code; code != wire.ExitOK {
		t.Fatalf("server exits %d: %s", code, s.out.String())
	}
	return get[wire.Done](t, parse(t, s.out.Bytes()), wire.TypeDone)
}

func runClient(t *testing.T, cfg wire.Config, to netip.AddrPort) (int, records) {
	t.Helper()
	cfg.Role, cfg.Addr = wire.RoleClient, to
	var out bytes.Buffer
	d := driver{stdin: bytes.NewReader(nil), out: wire.NewWriter(&out), stderr: t.Output(), stop: make(chan os.Signal), env: patient}
	code := d.main(cfg.Args())
	return code, parse(t, out.Bytes())
}

func config(suite string, change func(*wire.Config)) wire.Config {
	cfg := wire.Default()
	cfg.Suite, cfg.Messages, cfg.Warmup, cfg.Samples, cfg.Deadline = suite, 500, 5, 20, time.Minute
	if change != nil {
		change(&cfg)
	}
	return cfg
}
