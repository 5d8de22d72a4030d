package link

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"transportbench/pipeline/matrix"
)

// TestImpairments asks every backend that this kernel has for each further impairment.
func TestImpairments(t *testing.T) {
	inNamespace(t, func(t *testing.T) {
		for _, c := range Probe(context.Background()) {
			if !c.OK {
				t.Logf("not tested: %s: %v", c.Backend, &UnsupportedError{c.Reason, c.Fix})
				continue
			}
			t.Run(c.Backend, func(t *testing.T) { checkMore(t, c.Backend) })
		}
	})
}

// checkMore asks a backend for each further impairment: it does it, or refuses it by name.
func checkMore(t *testing.T, backend string) {
	const delay = 2 * time.Millisecond
	for _, c := range []struct {
		name  string
		spec  matrix.LinkSpec
		check func(*testing.T, *Applied, matrix.LinkSpec)
	}{
		{"bursts", matrix.LinkSpec{More: matrix.Impairment{Burst: bursty()}}, checkBursts},
		{"jitter", matrix.LinkSpec{DelayNS: delay, More: matrix.Impairment{JitterNS: delay}}, checkOvertaking},
		{"reordering", matrix.LinkSpec{DelayNS: delay, More: matrix.Impairment{ReorderPPM: 200_000}}, checkOvertaking},
		{"duplicates", matrix.LinkSpec{LossPPM: 50_000, More: matrix.Impairment{DuplicatePPM: 200_000}}, checkCopies},
		{"rate", matrix.LinkSpec{More: matrix.Impairment{RateBitPerS: 8_000_000}}, checkRate},
		{"step", matrix.LinkSpec{More: matrix.Impairment{RateBitPerS: 800_000_000, Steps: matrix.RateSteps{{AfterNS: time.Millisecond, RateBitPerS: 8_000_000}}}}, checkStep},
	} {
		t.Run(c.name, func(t *testing.T) {
			if cannot := lacking(backend, c.spec); cannot != "" {
				_, err := Apply(context.Background(), c.spec, Options{Backend: backend, Port: testPort})
				var u *UnsupportedError
				if !errors.As(err, &u) || !strings.Contains(u.Missing, cannot) {
					t.Errorf("refusal %v, want an UnsupportedError with %q", err, cannot)
				}
				return
			}
			a := mustApply(t, c.spec, backend)
			if a.State().More != c.spec.More {
				t.Errorf("kernel says %s, want %s", a.State().More, c.spec.More)
			}
			c.check(t, a, c.spec)
			mustClose(t, a)
		})
	}
}

func checkBursts(t *testing.T, a *Applied, spec matrix.LinkSpec) {
	for _, d := range flood(t, a, 2, floodMessages/2).Directions {
		v := BalanceLink(d, spec)
		if t.Logf("%+v %+v", d, v); !v.OK || d.Dropped == 0 {
			t.Errorf("%+v: %+v", d, v)
		}
	}
}

// checkOvertaking sends a volley that fits into the smallest receive buffer: all arrive, and some before earlier ones.
func checkOvertaking(t *testing.T, _ *Applied, _ matrix.LinkSpec) {
	const n = 200
	numbers := volley(t, n, n, 64)
	overtook, highest := 0, uint64(0)
	for _, v := range numbers {
		if v < highest {
			overtook++
		}
		highest = max(highest, v)
	}
	if t.Logf("%d of %d came after a later one", overtook, n); overtook == 0 {
		t.Error("every datagram came in order")
	}
}

func checkCopies(t *testing.T, a *Applied, spec matrix.LinkSpec) {
	for _, d := range flood(t, a, 1, floodMessages/4).Directions {
		v := BalanceLink(d, spec)
		if t.Logf("%+v %+v", d, v); !v.OK || d.Duplicated == 0 {
			t.Errorf("%+v: %+v", d, v)
		}
	}
}

// checkRate sends datagrams that take 1 ms each with headers: it can only take longer.
func checkRate(t *testing.T, a *Applied, _ matrix.LinkSpec) {
	const n = 60
	start := time.Now()
	volley(t, n, n, 1000-28-linkHeader)
	if took := time.Since(start); took < (n-1)*time.Millisecond {
		t.Errorf("%d datagrams of 1,000 B took %s at 8 Mbit/s", n, took)
	}
	for _, d := range counters(t, a).Directions {
		if d.Dropped+d.Overflow > 0 {
			t.Errorf("an empty queue dropped %+v", d)
		}
	}
}

// checkStep waits for the change and then finds the new rate in force.
func checkStep(t *testing.T, a *Applied, spec matrix.LinkSpec) {
	if b, ok := a.backend.(*netemBackend); ok {
		settled(t, a, func(Counters) bool {
			_, o, err := b.root()
			return err != nil || o.impairment().RateBitPerS == spec.More.Steps[0].RateBitPerS
		})
	}
	time.Sleep(2 * time.Millisecond) // past the step, by the clock that nfqueue goes by
	checkRate(t, a, spec)
}

// volley sends numbered datagrams at once and returns the numbers of the first want that arrive.
func volley(t *testing.T, n, want, payload int) []uint64 {
	t.Helper()
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: testPort})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := newClient(t, 0, payload)
	defer c.conn.Close()
	for i := range uint64(n) {
		binary.LittleEndian.PutUint64(c.payload, i)
		if _, err := c.conn.Write(c.payload); err != nil {
			t.Fatal(err)
		}
	}
	var numbers []uint64
	buf := make([]byte, 2048)
	for range want {
		server.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := server.Read(buf); err != nil {
			t.Fatalf("%d of %d datagrams arrived: %v", len(numbers), want, err)
		}
		numbers = append(numbers, binary.LittleEndian.Uint64(buf))
	}
	return numbers
}
