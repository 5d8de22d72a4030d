package link

import (
	"context"
	"encoding/binary"
	"math"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"transportbench/pipeline/matrix"
)

// The proof of the reference backend. It runs wherever the kernel has netem; `bench vm` brings such a kernel:
//
//	CGO_ENABLED=0 go test -c -o link.test ./pipeline/link && bench vm --exec link.test -- -test.v -test.run '^TestNetem'
//
// z999 is the two-sided 99.9 % point of the normal distribution.
const z999 = 3.2905

// proofPackets go each way at every loss rate.
const proofPackets = 100_000

// inNetem runs body in a namespace of its own where the kernel has netem.
func inNetem(t *testing.T, body func(t *testing.T)) {
	inNamespace(t, func(t *testing.T) {
		if c := try(context.Background(), BackendNetem); !c.OK {
			t.Skip(&UnsupportedError{c.Reason, c.Fix})
		}
		body(t)
	})
}

// TestNetemLimit reads the limit back that keeps a full queue from looking like loss.
func TestNetemLimit(t *testing.T) {
	inNetem(t, func(t *testing.T) {
		for _, spec := range []matrix.LinkSpec{{}, {LossPPM: 10_000}, {DelayNS: 5 * time.Millisecond}} {
			a := mustApply(t, spec, BackendNetem)
			if s := a.State(); s.Limit != 100_000 || s.LossPPM != spec.LossPPM || s.DelayNS != spec.DelayNS {
				t.Errorf("%+v became %+v in the kernel", spec, s)
			}
			mustClose(t, a)
		}
	})
}

// TestNetemLoss holds the drops of each direction against the binomial band of 99.9 %. One miss in a thousand is expected, so a miss
// is measured a second time: both miss once in a million, and always where the loss is wrong.
func TestNetemLoss(t *testing.T) {
	inNetem(t, func(t *testing.T) {
		for _, ppm := range []int{0, 10_000, 50_000} {
			if miss := outsideBand(t, ppm); len(miss) > 0 {
				t.Logf("%d ppm: outside the band, measured again: %+v", ppm, miss)
				if miss = outsideBand(t, ppm); len(miss) > 0 {
					t.Errorf("%d ppm: twice outside the band: %+v", ppm, miss)
				}
			}
		}
	})
}

// outsideBand sends datagrams one way, then the other, and returns the ways whose drops are not what was asked for. The qdisc itself is
// asked: what it counted must be what was sent, so nothing is joined before it meets the qdisc and nothing else is on the link.
func outsideBand(t *testing.T, ppm int) (miss []Direction) {
	t.Helper()
	a := mustApply(t, matrix.LinkSpec{LossPPM: ppm}, BackendNetem)
	defer mustClose(t, a)
	b := a.backend.(*netemBackend)
	start := counters(t, a)
	server, client := udpPair(t)
	defer server.Close()
	defer client.Close()
	p, n := float64(ppm)/wholePPM, float64(proofPackets)
	band := z999 * math.Sqrt(n*p*(1-p))
	for name, conn := range map[string]*net.UDPConn{"to-server": client, "to-client": server} {
		before := totals(t, b)
		blast(t, conn)
		now := totals(t, b)
		d := Direction{Name: name, Seen: now.Seen - before.Seen, Dropped: now.Dropped - before.Dropped}
		t.Logf("%d ppm %s: %d of %d dropped, want %.0f ± %.0f", ppm, d.Name, d.Dropped, d.Seen, n*p, band)
		if d.Seen != proofPackets {
			t.Errorf("%d ppm: the qdisc counted %d packets for %d datagrams %s", ppm, d.Seen, proofPackets, name)
		}
		if math.Abs(float64(d.Dropped)-n*p) > band {
			miss = append(miss, d)
		}
	}
	if c := counters(t, a).Sub(start); c.OverMTU != 0 {
		t.Errorf("%d ppm: %d packets over the MTU", ppm, c.OverMTU)
	}
	return miss
}

// blast sends datagrams that nobody reads: what counts has happened before the socket.
func blast(t *testing.T, conn *net.UDPConn) {
	t.Helper()
	payload := make([]byte, 64)
	for range proofPackets {
		if _, err := conn.Write(payload); err != nil {
			t.Fatal(err)
		}
	}
}

// udpPair are two connected sockets, the server's on the port that tells the directions apart.
func udpPair(t *testing.T) (server, client *net.UDPConn) {
	t.Helper()
	at := func(port int) *net.UDPAddr { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }
	server, err := net.DialUDP("udp4", at(testPort), at(20000))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	client, err = net.DialUDP("udp4", at(20000), at(testPort))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return server, client
}

// TestNetemBatch shows why -gso is off where there is loss: netem drops a batch of 8 whole, and single datagrams without offload.
func TestNetemBatch(t *testing.T) {
	inNetem(t, func(t *testing.T) {
		for _, gso := range []bool{true, false} {
			whole, partial := batches(t, gso)
			t.Logf("gso %t: %d groups lost whole, %d in part", gso, whole, partial)
			if gso && (whole == 0 || partial != 0) {
				t.Errorf("gso on: %d batches lost whole and %d in part, want some and none", whole, partial)
			}
			if !gso && partial == 0 {
				t.Errorf("gso off: no group of 8 was lost in part")
			}
		}
	})
}

const (
	batchOf   = 8
	batchSize = 100 // bytes of one datagram
)

// batches sends groups of 8 datagrams at 20 % loss, as UDP_SEGMENT batches or one by one, and counts the groups that lost all or
// some of them. After each group it reads exactly what the qdisc let through.
func batches(t *testing.T, gso bool) (whole, partial int) {
	t.Helper()
	a := mustApply(t, matrix.LinkSpec{LossPPM: 200_000}, BackendNetem)
	defer mustClose(t, a)
	b := a.backend.(*netemBackend)
	server, client := udpPair(t)
	defer server.Close()
	defer client.Close()
	for group := range uint64(200) {
		before := totals(t, b)
		sendGroup(t, client, group, gso)
		d := totals(t, b)
		passed, lost := d.Seen-d.Dropped-before.Seen+before.Dropped, d.Dropped-before.Dropped
		// The kernel counts a batch that passes as its datagrams and one that is dropped as 1 (bstats_update, qdisc_drop).
		if gso && (passed != batchOf || lost != 0) && (passed != 0 || lost != 1) || !gso && passed+lost != batchOf {
			t.Fatalf("gso %t: of a group of %d the qdisc passed %d and dropped %d", gso, batchOf, passed, lost)
		}
		readGroup(t, server, group, int(passed))
		switch passed {
		case 0:
			whole++
		case batchOf:
		default:
			partial++
		}
	}
	return whole, partial
}

func totals(t *testing.T, b *netemBackend) Direction {
	t.Helper()
	d, err := b.drained()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sendGroup marks every datagram with its group.
func sendGroup(t *testing.T, conn *net.UDPConn, group uint64, gso bool) {
	t.Helper()
	buf := make([]byte, batchOf*batchSize)
	for i := range batchOf {
		binary.LittleEndian.PutUint64(buf[i*batchSize:], group)
	}
	if gso {
		sendSegments(t, conn, buf, batchSize)
		return
	}
	for part := range slices.Chunk(buf, batchSize) {
		if _, err := conn.Write(part); err != nil {
			t.Fatal(err)
		}
	}
}

// readGroup wants n datagrams of one group and not one more of an earlier one.
func readGroup(t *testing.T, conn *net.UDPConn, group uint64, n int) {
	t.Helper()
	buf := make([]byte, 2*batchSize)
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	for i := range n {
		got, err := conn.Read(buf)
		if err != nil {
			t.Fatalf("group %d: datagram %d of %d did not arrive: %v", group, i, n, err)
		}
		if of := binary.LittleEndian.Uint64(buf); got != batchSize || of != group {
			t.Fatalf("group %d: read %d bytes of group %d", group, got, of)
		}
	}
}

// TestNetemReadBack lets somebody else change the qdisc: reading back must say what the kernel has now, and refuse what nobody asked for.
func TestNetemReadBack(t *testing.T) {
	inNetem(t, func(t *testing.T) {
		a := mustApply(t, matrix.LinkSpec{LossPPM: 10_000}, BackendNetem)
		defer mustClose(t, a)
		b := a.backend.(*netemBackend)
		attrs := netlink.QdiscAttrs{LinkIndex: int(b.lo), Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}
		changed := &netlink.Netem{QdiscAttrs: attrs, Limit: 1000, Loss: dropThreshold(10_000)}
		if err := netlink.QdiscChange(changed); err != nil {
			t.Fatal(err)
		}
		var s State
		if err := b.readBack(&s); err != nil || s.Limit != 1000 {
			t.Errorf("limit changed to 1000: read back %d, %v", s.Limit, err)
		}
		changed.Duplicate = dropThreshold(10_000)
		if err := netlink.QdiscChange(changed); err != nil {
			t.Fatal(err)
		}
		if err := b.readBack(&s); err != nil || compare(b.plan, s) == nil {
			t.Errorf("duplicates that nobody asked for were accepted: %v, %+v", err, s)
		}
		changed.CorruptProb = dropThreshold(10_000)
		if err := netlink.QdiscChange(changed); err != nil {
			t.Fatal(err)
		}
		if err := b.readBack(&s); err == nil {
			t.Error("corruption that nobody asked for was accepted")
		}
	})
}
