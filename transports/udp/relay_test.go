//go:build linux

package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"transportbench/transports/wire"
)

// relay stands in for a server: it answers datagram number n, from 0, with whatever mangle returns for it.
func relay(t *testing.T, mangle func(n int, d []byte) [][]byte) netip.AddrPort {
	t.Helper()
	pc, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if err := pc.SetReadBuffer(defaultBuffer); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends when the socket is closed
		defer close(done)
		buf := make([]byte, 2048)
		for n := 0; ; n++ {
			size, from, err := pc.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			for _, d := range mangle(n, buf[:size]) {
				_, _ = pc.WriteToUDPAddrPort(d, from) // a client that has ended does not listen any more
			}
		}
	}()
	t.Cleanup(func() {
		_ = pc.Close()
		<-done
	})
	return pc.LocalAddr().(*net.UDPAddr).AddrPort()
}

func TestEveryLossIsCounted(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*wire.Config)
		every    int // each so-manieth datagram is lost, from number first on
		first    int
		messages int64 // lost
	}{
		{"single", nil, 50, 49, 10},
		{"rounds", func(c *wire.Config) { c.Suite, c.Samples, c.Messages, c.Warmup = wire.SuiteSparse, 20, 10, 0 }, 10, 9, 3},
		{"last of all", func(c *wire.Config) { c.Messages = 100 }, 1000, 124, 1},
		{"one fragment of a message", func(c *wire.Config) { c.Payload, c.Messages = 4096, 100 }, 75, 74, 5},
		{"several connections", func(c *wire.Config) { c.Suite, c.Connections, c.Warmup = wire.SuiteConcurrent, 4, 0 }, 100, 99, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(wire.SuiteSingle, c.change)
			for range attempts {
				if lost := loseEvery(t, cfg, c.every, c.first); lost == c.messages {
					return
				} else if lost < c.messages {
					t.Fatalf("lost %d, want %d", lost, c.messages)
				}
			}
			t.Errorf("lost more than %d in each of %d runs", c.messages, attempts)
		})
	}
}

// loseEvery runs a client through a relay that drops datagrams and returns how many messages it counts as lost.
func loseEvery(t *testing.T, cfg wire.Config, every, first int) int64 {
	t.Helper()
	to := relay(t, func(n int, d []byte) [][]byte {
		if n >= first && (n-first)%every == 0 {
			return nil
		}
		return [][]byte{d}
	})
	code, r := runClient(t, cfg, to)
	if code != wire.ExitOK {
		t.Fatalf("client exits %d: %s", code, r.byType[wire.TypeError])
	}
	return checkRecords(t, cfg, r).Lost
}

func TestDuplicatesAreIgnored(t *testing.T) {
	for _, payload := range []int{64, 4096} {
		cfg := config(wire.SuiteSingle, func(c *wire.Config) { c.Payload = payload })
		code, r := runClient(t, cfg, relay(t, func(_ int, d []byte) [][]byte { return [][]byte{d, d} }))
		if code != wire.ExitOK {
			t.Fatalf("client exits %d: %s", code, r.byType[wire.TypeError])
		}
		res := get[wire.Result](t, r, wire.TypeResult)
		if all := int64(cfg.Warmup + cfg.Samples + cfg.Messages); res.Verified+res.Lost != all || res.Bytes > res.Messages*int64(payload) {
			t.Errorf("%d B: verified %d + lost %d of %d, bytes %d", payload, res.Verified, res.Lost, all, res.Bytes)
		}
	}
}

func TestWrongEchoesEndTheRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		payload int
		mangle  func(d []byte) []byte
	}{
		{"flipped bit", 64, func(d []byte) []byte { d[40] ^= 1; return d }},
		{"other connection", 64, func(d []byte) []byte { d[1]++; return d }},
		{"message of the future", 64, func(d []byte) []byte { d[12] = 1; return d }},
		{"cut short", 64, func(d []byte) []byte { return d[:63] }},
		{"too long", 64, func(d []byte) []byte { return append(d, wire.Fill) }},
		{"empty", 64, func(d []byte) []byte { return d[:0] }},
		{"fragment's share", 4096, func(d []byte) []byte { d[len(d)-1] ^= 1; return d }},
		{"fragment's number", 4096, func(d []byte) []byte { d[12] = 3; return d }},
		{"fragment's connection", 4096, func(d []byte) []byte { d[8]++; return d }},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := relay(t, func(n int, d []byte) [][]byte {
				if n == 100 {
					d = c.mangle(d)
				}
				return [][]byte{d}
			})
			code, r := runClient(t, config(wire.SuiteSingle, func(w *wire.Config) { w.Payload = c.payload }), to)
			if code != wire.ExitVerification || get[wire.Error](t, r, wire.TypeError).Code != wire.CodeVerification {
				t.Errorf("client exits %d: %s", code, r.byType[wire.TypeError])
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	for _, suite := range []string{wire.SuiteSingle, wire.SuiteConcurrent} {
		cfg := config(suite, func(c *wire.Config) { c.Deadline, c.Samples = 150*time.Millisecond, 1000 })
		if suite == wire.SuiteConcurrent {
			cfg.Connections = 4
		}
		code, r := runClient(t, cfg, relay(t, func(int, []byte) [][]byte { return nil }))
		if code != wire.ExitFailed || get[wire.Error](t, r, wire.TypeError).Code != wire.CodeDeadline {
			t.Errorf("%s: client exits %d: %s", suite, code, r.byType[wire.TypeError])
		}
	}
}

func TestServerDeadline(t *testing.T) {
	server, _ := startServer(t, config(wire.SuiteSingle, func(c *wire.Config) { c.Deadline = 50 * time.Millisecond }))
	if code := <-server.code; code != wire.ExitFailed {
		t.Errorf("server exits %d", code)
	}
}

func TestServerStopsOnEOF(t *testing.T) {
	server, _ := startServer(t, config(wire.SuiteSingle, func(c *wire.Config) { c.StopOnEOF = true }))
	if code := <-server.code; code != wire.ExitOK {
		t.Errorf("server exits %d", code)
	}
}

func TestBurstWithoutAnEchoFails(t *testing.T) {
	cfg := config(wire.SuiteSingle, func(c *wire.Config) { c.Warmup, c.Samples, c.Messages = 0, 0, 64 })
	code, r := runClient(t, cfg, relay(t, func(int, []byte) [][]byte { return nil }))
	if code != wire.ExitFailed || r.byType[wire.TypeResult] != nil {
		t.Errorf("client exits %d with %v", code, r.order)
	}
}

func TestNobodyListens(t *testing.T) {
	code, r := runClient(t, config(wire.SuiteSingle, nil), netip.AddrPortFrom(loopback, 9))
	if code != wire.ExitFailed || get[wire.Error](t, r, wire.TypeError).Code != wire.CodeFailed {
		t.Errorf("client exits %d: %s", code, r.byType[wire.TypeError])
	}
}

func TestInterrupt(t *testing.T) {
	stop := make(chan os.Signal, 1)
	to := relay(t, func(n int, d []byte) [][]byte {
		if n == 20 {
			stop <- syscall.SIGTERM
		}
		return [][]byte{d}
	})
	cfg := config(wire.SuiteSingle, func(c *wire.Config) { c.Samples = 1 << 30 >> 10 })
	cfg.Role, cfg.Addr = wire.RoleClient, to
	d := driver{out: wire.NewWriter(t.Output()), stderr: t.Output(), stop: stop, env: patient}
	if err := d.measure(cfg); !errors.Is(err, wire.ErrInterrupted) {
		t.Errorf("error %v", err)
	}
}
