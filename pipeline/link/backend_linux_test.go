package link

import (
	"context"
	"testing"
	"time"

	"github.com/google/nftables"

	"transportbench/pipeline/matrix"
)

// TestBackends is the one conformance suite of all backends: it runs each that this kernel has, and names each it lacks.
func TestBackends(t *testing.T) {
	inNamespace(t, func(t *testing.T) {
		for _, c := range Probe(context.Background()) {
			if !c.OK {
				t.Logf("not tested: %s: %v", c.Backend, &UnsupportedError{c.Reason, c.Fix})
				continue
			}
			t.Run(c.Backend, func(t *testing.T) {
				t.Run("loss", func(t *testing.T) { checkLoss(t, c.Backend) })
				t.Run("delay", func(t *testing.T) { checkDelay(t, c) })
				t.Run("sockets", func(t *testing.T) { checkSockets(t, c.Backend) })
				t.Run("packets", func(t *testing.T) { checkPackets(t, c.Backend) })
				t.Run("close", func(t *testing.T) { checkClose(t, c.Backend) })
			})
		}
	})
}

// checkLoss sends real traffic both ways and asks the ledger.
func checkLoss(t *testing.T, backend string) {
	for _, ppm := range []int{0, 10_000, 50_000} {
		a := mustApply(t, matrix.LinkSpec{LossPPM: ppm}, backend)
		c := flood(t, a, 2, floodMessages/2)
		if len(c.Directions) != 2 {
			t.Errorf("%d ppm: directions %+v, want to-server and to-client", ppm, c.Directions)
		}
		for _, d := range c.Directions {
			v := Balance(d, ppm)
			if t.Logf("%d ppm %+v %+v", ppm, d, v); !v.OK || d.Seen == 0 {
				t.Errorf("%d ppm: %+v: %+v", ppm, d, v)
			}
		}
		if c.OverMTU != 0 {
			t.Errorf("%d packets over the MTU in traffic of 64 B", c.OverMTU)
		}
		mustClose(t, a)
	}
}

// checkDelay holds the shortest of some round trips against twice the one-way delay: it can only be longer.
func checkDelay(t *testing.T, c Capability) {
	const delay = 5 * time.Millisecond
	if !c.Delay {
		_, err := Apply(context.Background(), matrix.LinkSpec{DelayNS: delay}, Options{Backend: c.Backend, Port: testPort})
		if err == nil {
			t.Fatal("delay was accepted by a backend that cannot delay")
		}
		return
	}
	a := mustApply(t, matrix.LinkSpec{DelayNS: delay}, c.Backend)
	defer mustClose(t, a)
	echoServer(t)
	rtts := newClient(t, 0, 64).roundTrips(t, 50)
	t.Logf("rtt min %s median %s max %s", rtts[0], rtts[len(rtts)/2], rtts[len(rtts)-1])
	if rtts[0] < 2*delay {
		t.Errorf("shortest round trip %s, want at least %s", rtts[0], 2*delay)
	}
}

// checkPackets sends what must not be miscounted: a datagram in fragments, and a batch larger than the MTU.
func checkPackets(t *testing.T, backend string) {
	a := mustApply(t, matrix.LinkSpec{}, backend)
	defer mustClose(t, a)
	echoServer(t)
	conn := newClient(t, 0, 64).conn
	if _, err := conn.Write(make([]byte, 4000)); err != nil {
		t.Fatal(err)
	}
	settled(t, a, func(c Counters) bool { return fragments(c) >= 3 }) // two of the request, one of the cut reply
	// One reading is several questions to the kernel: the reply may have left between two of them. Ask again now that all is over.
	c := counters(t, a)
	if c.OverMTULo != 0 {
		t.Errorf("fragments counted as %d packets over the MTU", c.OverMTULo)
	}
	sendBatch(t, conn, 10, 1000)
	settled(t, a, func(now Counters) bool { return now.Directions[0].Seen >= c.Directions[0].Seen+10 })
	after := counters(t, a)
	if d := after.Sub(c); d.OverMTU != 1 || d.OverMTULo != 0 {
		t.Errorf("a batch of 10 datagrams: %d sent and %d on lo over the MTU, want 1 and 0", d.OverMTU, d.OverMTULo)
	}
	ping(t)
}

// fragments are the later fragments seen. netem's split by direction counts datagrams before they are cut, so with fragments
// its ledger is one direction, whose first packets are the two that carry ports.
func fragments(c Counters) int64 {
	last := c.Directions[len(c.Directions)-1]
	switch last.Name {
	case directionNames[other]:
		return last.Seen
	case bothDirections:
		return last.Seen - 2
	}
	return 0
}

// checkClose requires that nothing is left, and that the link can be applied again.
func checkClose(t *testing.T, backend string) {
	for range 2 {
		mustClose(t, mustApply(t, matrix.LinkSpec{LossPPM: 10_000}, backend))
		conn, err := nftables.New()
		if err != nil {
			t.Fatal(err)
		}
		if tables, err := conn.ListTables(); err != nil || len(tables) > 0 {
			t.Errorf("tables after Close: %v %v", tables, err)
		}
	}
}
