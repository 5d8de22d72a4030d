package link

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"transportbench/pipeline/matrix"
)

// TestReplay predicts each packet's fate from the seed alone and requires the kernel path to agree, twice, for losses that
// come alone and in bursts.
func TestReplay(t *testing.T) {
	inNamespace(t, func(t *testing.T) {
		const packets = 10_000
		for _, spec := range []matrix.LinkSpec{{LossPPM: 50_000}, {More: matrix.Impairment{Burst: bursty()}}} {
			for range 2 {
				a := mustApply(t, spec, BackendNFQueue)
				dropped := sendPredicted(t, spec, packets)
				if c := counters(t, a); c.Directions[0].Dropped != dropped || c.Directions[0].Seen != packets {
					t.Errorf("ledger %+v, want %d seen and %d dropped", c.Directions[0], packets, dropped)
				}
				mustClose(t, a)
			}
		}
	})
}

// sendPredicted sends packets one by one and reads each that must survive.
func sendPredicted(t *testing.T, spec matrix.LinkSpec, packets int) (dropped int64) {
	t.Helper()
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: testPort})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := newClient(t, 0, 8)
	defer c.conn.Close()
	f := newFates(plan{seed: testSeed(), lossPPM: spec.LossPPM, more: spec.More})
	buf := make([]byte, 8)
	for i := range uint64(packets) {
		binary.LittleEndian.PutUint64(c.payload, i)
		if _, err := c.conn.Write(c.payload); err != nil {
			t.Fatal(err)
		}
		if f.drop(toServer, 20000) {
			dropped++
			continue
		}
		server.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := server.Read(buf); err != nil {
			t.Fatalf("packet %d did not arrive: %v", i, err)
		}
		if got := binary.LittleEndian.Uint64(buf); got != i {
			t.Fatalf("packet %d arrived where %d was due", got, i)
		}
	}
	return dropped
}
