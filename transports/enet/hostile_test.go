package enet

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"testing"

	"transportbench/transports/echotest/drivertest"
	"transportbench/transports/wire"
)

// Numbers of ENet's protocol 1.3 (enet/protocol.h).
const (
	noPeer      = 0x0FFF // of a datagram that belongs to no connection yet
	compressed  = 1 << 14
	timed       = 1 << 15
	connect     = 2
	acknowledge = 1 << 7
)

// datagram is a header with one command.
func datagram(peer uint16, command byte, body []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, peer)
	if peer&timed != 0 {
		b = append(b, 0, 1)
	}
	return append(append(b, command, 0xFF, 0, 1), body...)
}

// connecting is the request of a stranger with the given number of channels.
func connecting(id, channels uint32) []byte {
	body := []byte{0, 0, 0xFF, 0xFF}
	for _, v := range []uint32{1400, 65536, channels, 0, 0, 5000, 2, 2, id, 0} {
		body = binary.BigEndian.AppendUint32(body, v)
	}
	return datagram(noPeer|timed, connect|acknowledge, body)
}

// hostile are datagrams of strangers: requests that are cut off or absurd, every command with random contents for a peer that exists and
// for one that does not, and noise.
func hostile() [][]byte {
	random := rand.New(rand.NewPCG(3, 4))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	good := connecting(1, 1)
	all := [][]byte{{}, connecting(2, 0), connecting(3, 256), connecting(4, 1<<32-1), make([]byte, 4097), make([]byte, 60_000)}
	for n := range good {
		all = append(all, good[:n])
	}
	for range 20 {
		for command := range byte(16) {
			for _, peer := range []uint16{0, timed, 1, noPeer | timed, compressed, 0x3000} {
				if command == connect && peer == noPeer|timed {
					continue // with luck a good one; the test counts those
				}
				all = append(all, datagram(peer, command|acknowledge, noise(random.IntN(100))))
			}
		}
		all = append(all, noise(random.IntN(1500)))
	}
	return all
}

// A server under fire from strangers serves its client as if nothing were, and counts nobody else. A few strangers may even begin a
// handshake: they take places of their own.
func TestServerServesUnderFire(t *testing.T) {
	path := driver(t)
	cfg := wire.Default()
	cfg.Payload, cfg.Messages, cfg.Warmup, cfg.Samples, cfg.Deadline = 800, 500, 2, 10, drivertest.RunLimit
	s := drivertest.Serve(t, path, cfg)
	stranger, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(s.Addr))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close() //nolint:errcheck // nothing is lost with it
	over, ended := make(chan struct{}), make(chan int)
	go func() { // ends when the client has ended
		fired := 0
		for id := range uint32(8) {
			_, _ = stranger.Write(connecting(100+id, 1))
		}
		for {
			for _, b := range hostile() {
				select {
				case <-over:
					ended <- fired
					return
				default:
					_, _ = stranger.Write(b)
					fired++
				}
			}
		}
	}()
	r := drivertest.Measure(t, path, cfg, s.Addr)
	close(over)
	if fired := <-ended; fired < 100 {
		t.Errorf("only %d hostile datagrams beside the client", fired)
	}
	if want := int64(cfg.Warmup + cfg.Samples + cfg.Messages); r.Verified != want {
		t.Errorf("verified %d of %d", r.Verified, want)
	}
	if d := s.Stop(t); d.Connections != 1 || d.Messages != r.Verified {
		t.Errorf("%d connections, %d messages of %d", d.Connections, d.Messages, r.Verified)
	}
}
