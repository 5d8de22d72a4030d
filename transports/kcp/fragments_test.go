package kcp

import (
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	kcpgo "github.com/xtaci/kcp-go/v5"

	"transportbench/transports/echotest/drivertest"
	"transportbench/transports/echotest/relay"
	"transportbench/transports/wire"
)

// rawGo is kcp-go's protocol core without its sessions, which would cut a message of several segments into several messages.
type rawGo struct {
	kcp    *kcpgo.KCP
	socket *net.UDPConn
	peer   netip.AddrPort // of the last datagram, or given
	buf    []byte
}

func newRawGo(socket *net.UDPConn, peer netip.AddrPort) *rawGo {
	r := &rawGo{socket: socket, peer: peer, buf: make([]byte, 1<<16)}
	r.kcp = kcpgo.NewKCP(42, func(b []byte, size int) { _, _ = socket.WriteToUDPAddrPort(b[:size], r.peer) })
	r.kcp.SetMtu(1400)
	r.kcp.NoDelay(1, 10, 2, 1)
	r.kcp.WndSize(64, 128)
	r.kcp.Update()
	return r
}

// turn waits up to 5 ms for a datagram, hands it to the core and returns the next message if one is complete.
func (r *rawGo) turn() []byte {
	_ = r.socket.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	if n, from, err := r.socket.ReadFromUDPAddrPort(r.buf); err == nil {
		r.peer = from
		r.kcp.Input(r.buf[:n], kcpgo.IKCP_PACKET_REGULAR, true)
	}
	r.kcp.Update()
	return r.receive()
}

func (r *rawGo) receive() []byte {
	n := r.kcp.PeekSize()
	if n <= 0 {
		return nil
	}
	b := make([]byte, n)
	r.kcp.Recv(b)
	return b
}

func bad() relay.Impairment {
	return relay.Impairment{DropPPM: 20_000, HoldPPM: 30_000, RepeatPPM: 30_000}
}

func TestFragmentsFromKCPGo(t *testing.T) {
	const messages, payload = 300, 4096
	s := drivertest.Serve(t, driver(t, release()), runConfig(payload, messages))
	addr, check := between(t, s.Addr, bad())
	r := newRawGo(loopbackSocket(t), addr)
	b := make([]byte, payload)
	for sent, got := 0, 0; got < messages; {
		for ; sent < messages && sent-got < 16; sent++ {
			wire.BuildPayload(b, 0, uint64(sent))
			if r.kcp.Send(b) < 0 {
				t.Fatal("kcp-go refuses a message")
			}
		}
		for m := r.turn(); m != nil; m = r.receive() {
			if err := wire.CheckPayload(m, 0, uint64(got)); err != nil || len(m) != payload {
				t.Fatalf("%d bytes: %v", len(m), err)
			}
			got++
		}
	}
	check()
	if d := s.Stop(t); d.Messages != messages {
		t.Errorf("%d messages of %d", d.Messages, messages)
	}
}

func TestFragmentsToKCPGo(t *testing.T) {
	r := newRawGo(loopbackSocket(t), netip.AddrPort{})
	addr, check := between(t, r.socket.LocalAddr().(*net.UDPAddr).AddrPort(), bad())
	var ended atomic.Bool
	finished := make(chan struct{})
	go func() { // ends when the client is done
		defer close(finished)
		for !ended.Load() {
			for m := r.turn(); m != nil; m = r.receive() {
				r.kcp.Send(m)
			}
		}
	}()
	drivertest.Measure(t, driver(t, release()), runConfig(4096, 300), addr)
	ended.Store(true)
	<-finished
	check()
}

// Every message costs three datagrams one by one, and sixteen small ones share few in a batch.
func TestDatagramsPerMessage(t *testing.T) {
	for api, most := range map[string]float64{wire.APISend: 3.5, wire.APIBatch: 1} {
		cfg := runConfig(64, 5000)
		cfg.API = api
		path := driver(t, release())
		s := drivertest.Serve(t, path, cfg)
		r, err := relay.New(t.Context(), s.Addr, relay.Impairment{})
		if err != nil {
			t.Fatal(err)
		}
		res := drivertest.Measure(t, path, cfg, r.Addr())
		each := float64(r.Close().Datagrams) / float64(res.Verified)
		t.Logf("%s: %.2f datagrams a message both ways, %.2f of the client", api, each, float64(*res.Datagrams)/float64(res.Verified))
		if each > most || api == wire.APISend && each < 2.9 {
			t.Errorf("%s: %.2f datagrams a message, want at most %.1f", api, each, most)
		}
		s.Stop(t)
	}
}
