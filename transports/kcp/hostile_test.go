package kcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"transportbench/transports/echotest/drivertest"
	"transportbench/transports/wire"
)

// segment is one KCP segment as its header says, which need not be true.
func segment(conv uint32, cmd, frg byte, sn, length uint32, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, conv)
	b = append(b, cmd, frg, 64, 0)
	for _, v := range []uint32{0, sn, 0, length} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, data...)
}

// hostile are datagrams that must neither open a conversation nor be answered.
func hostile() [][]byte {
	message := make([]byte, 64)
	wire.BuildPayload(message, 0, 0)
	good := segment(42, 81, 0, 0, 64, message)
	all := [][]byte{
		{}, good[:1], good[:23],
		segment(41, 81, 0, 0, 64, message),       // foreign numbers
		segment(43, 81, 0, 0, 64, message),       // a single suite has one
		segment(1<<32-1, 81, 0, 0, 64, message),  //
		segment(42, 82, 0, 0, 0, nil),            // nothing that begins a conversation
		segment(42, 83, 0, 0, 0, nil),            //
		segment(42, 80, 0, 0, 0, nil),            // no command
		segment(42, 81, 255, 0, 64, message),     // more fragments than a message may have
		segment(42, 81, 0, 128, 64, message),     // beyond the first window
		segment(42, 81, 0, 0, 65, message),       // longer than it is
		segment(42, 81, 0, 0, 1<<32-1, message),  //
		make([]byte, 1473), make([]byte, 60_000), // longer than any datagram of ours
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, random.IntN(1500))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		all = append(all, b)
	}
	return all
}

// A server under fire from strangers neither answers them nor grows, and serves its client as if nothing were.
func TestServerIgnoresStrangers(t *testing.T) {
	path := driver(t, sanitized())
	cfg := runConfig(64, 500)
	s := drivertest.Serve(t, path, cfg)
	stranger := loopbackSocket(t)
	fire := func() {
		for _, b := range hostile() {
			if _, err := stranger.WriteToUDPAddrPort(b, s.Addr); err != nil {
				t.Fatal(err)
			}
		}
	}
	fire()
	before := residentKiB(t, s.PID)
	for range 10 {
		fire()
	}
	if grown := residentKiB(t, s.PID) - before; grown > 1024 {
		t.Errorf("the server has grown by %d KiB under 20,000 hostile datagrams", grown)
	}
	r := drivertest.Measure(t, path, cfg, s.Addr) // its datagrams stand behind the hostile ones in the server's queue
	nothingFor(t, stranger)
	if d := s.Stop(t); d.Connections != 1 || d.Messages != r.Verified {
		t.Errorf("%d connections, %d messages of %d", d.Connections, d.Messages, r.Verified)
	}
}

// What a client sent is not echoed again, neither to itself nor to whoever else sends it.
func TestServerIgnoresReplays(t *testing.T) {
	path := driver(t, sanitized())
	cfg := runConfig(64, 200)
	s := drivertest.Serve(t, path, cfg)
	tape := record(t, s.Addr)
	r := drivertest.Measure(t, path, cfg, tape.addr)
	stranger := loopbackSocket(t)
	for _, b := range tape.stop() {
		if _, err := tape.upstream.WriteToUDPAddrPort(b, s.Addr); err != nil {
			t.Fatal(err)
		}
		if _, err := stranger.WriteToUDPAddrPort(b, s.Addr); err != nil {
			t.Fatal(err)
		}
	}
	tape.probe(t, s.Addr)
	nothingFor(t, stranger)
	if d := s.Stop(t); d.Connections != 1 || d.Messages != r.Verified {
		t.Errorf("%d connections, %d messages: want 1 and %d", d.Connections, d.Messages, r.Verified)
	}
}

// nothingFor fails when a datagram waits in the socket.
func nothingFor(t *testing.T, c *net.UDPConn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond)) // an expired one would not even look
	n, err := c.Read(make([]byte, 2000))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a stranger got %d bytes: %v", n, err)
	}
}

func residentKiB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nVmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tape forwards the datagrams of one client and keeps what it sent.
type tape struct {
	addr            netip.AddrPort
	front, upstream *net.UDPConn
	ended           chan struct{}
	told            chan struct{} // the server has told its window
	sent            [][]byte
}

func record(t *testing.T, server netip.AddrPort) *tape {
	t.Helper()
	r := &tape{front: loopbackSocket(t), upstream: loopbackSocket(t), ended: make(chan struct{}), told: make(chan struct{}, 1)}
	r.addr = r.front.LocalAddr().(*net.UDPAddr).AddrPort()
	clients := make(chan netip.AddrPort, 1)
	go func() { // ends with the front socket
		defer close(r.ended)
		buf := make([]byte, 2000)
		for {
			n, from, err := r.front.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			if len(r.sent) == 0 {
				clients <- from
			}
			r.sent = append(r.sent, append([]byte(nil), buf[:n]...))
			_, _ = r.upstream.WriteToUDPAddrPort(buf[:n], server)
		}
	}()
	go func() { // ends with the upstream socket
		client := <-clients
		buf := make([]byte, 2000)
		for {
			n, err := r.upstream.Read(buf)
			if err != nil {
				return
			}
			if n > 4 && buf[4] == 84 {
				r.told <- struct{}{}
			}
			_, _ = r.front.WriteToUDPAddrPort(buf[:n], client)
		}
	}()
	return r
}

// probe asks the server for its window and waits for the answer: everything sent before has been handled then.
func (r *tape) probe(t *testing.T, server netip.AddrPort) {
	t.Helper()
	if _, err := r.upstream.WriteToUDPAddrPort(segment(42, 83, 0, 0, 0, nil), server); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.told:
	case <-time.After(drivertest.RunLimit):
		t.Fatal("the server does not answer its peer any more")
	}
}

// stop ends the recording and returns it.
func (r *tape) stop() [][]byte {
	_ = r.front.Close()
	<-r.ended
	return r.sent
}
