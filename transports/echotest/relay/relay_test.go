package relay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// passAll sends n numbered datagrams through one lane without a network and returns what came out, in order.
func passAll(imp Impairment, n int) (out []int, r *Relay) {
	r = &Relay{imp: imp}
	l := newLane(r, 3, func(b []byte, _ bool) { out = append(out, int(b[0])<<16|int(b[1])<<8|int(b[2])) })
	for i := range n {
		l.pass([]byte{byte(i >> 16), byte(i >> 8), byte(i)})
	}
	time.Sleep(2 * maxHold) // virtual: a held last one leaves
	synctest.Wait()
	return out, r
}

func TestCleanLaneChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, _ := passAll(Impairment{Seed: 1}, 1000)
		if len(out) != 1000 || !slices.IsSorted(out) {
			t.Errorf("%d of 1000 datagrams", len(out))
		}
	})
}

func TestImpairmentsKeepTheirRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100_000
		out, r := passAll(Impairment{Seed: 1, DropPPM: 20_000, RepeatPPM: 20_000, HoldPPM: 30_000}, n)
		seen := map[int]int{}
		late, top := 0, -1
		for _, v := range out {
			seen[v]++
			if v < top {
				late++
			}
			top = max(top, v)
		}
		// 4.5 standard deviations of a binomial count
		for _, c := range []struct {
			name      string
			got, want int64
		}{{"dropped", r.dropped.Load(), 2000}, {"repeated", r.repeated.Load(), 1900}, {"held", r.held.Load(), 2800}, {"overtaken", int64(late), 2800}} {
			if c.got < c.want-300 || c.got > c.want+300 {
				t.Errorf("%s %d, want about %d", c.name, c.got, c.want)
			}
		}
		if lost := n - len(seen); int64(lost) != r.dropped.Load() || int64(len(out)-len(seen)) != r.repeated.Load() {
			t.Errorf("%d missing and %d extra datagrams do not match the counts", lost, len(out)-len(seen))
		}
	})
}

func TestSameSeedSameFate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		imp := Impairment{Seed: 9, DropPPM: 100_000, RepeatPPM: 50_000, HoldPPM: 50_000}
		a, _ := passAll(imp, 5000)
		b, _ := passAll(imp, 5000)
		imp.Seed++
		c, _ := passAll(imp, 5000)
		if !slices.Equal(a, b) || slices.Equal(a, c) {
			t.Error("the fate of a datagram does not depend on the seed alone")
		}
	})
}

func TestHeldDatagramLeavesWithoutFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at time.Duration
		began := time.Now()
		l := newLane(&Relay{imp: Impairment{HoldPPM: 1_000_000}}, 0, func([]byte, bool) { at = time.Since(began) })
		l.pass([]byte("only"))
		time.Sleep(time.Second)
		synctest.Wait()
		if at != maxHold {
			t.Errorf("left after %v, want %v", at, maxHold)
		}
	})
}

// udpEcho answers datagrams with the sender's address and the datagram.
func udpEcho(t *testing.T) netip.AddrPort {
	t.Helper()
	u, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	go func() { // ends with the socket
		buf := make([]byte, maxDatagram)
		for {
			n, from, err := u.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = u.WriteToUDPAddrPort(fmt.Appendf(nil, "%s %s", from, buf[:n]), from)
		}
	}()
	return u.LocalAddr().(*net.UDPAddr).AddrPort()
}

func TestEachClientHasItsOwnAddressUpstream(t *testing.T) {
	r, err := New(context.Background(), udpEcho(t), Impairment{})
	if err != nil {
		t.Fatal(err)
	}
	addresses := map[string]bool{}
	for i := range 3 {
		c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(r.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		for range 2 {
			fmt.Fprintf(c, "client%d", i)
			buf := make([]byte, 100)
			n, err := c.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			from, text, _ := bytes.Cut(buf[:n], []byte(" "))
			if string(text) != fmt.Sprintf("client%d", i) {
				t.Errorf("client %d got %q", i, text)
			}
			addresses[string(from)] = true
		}
	}
	if st := r.Close(); len(addresses) != 3 || st.Datagrams != 12 {
		t.Errorf("%d upstream addresses for 3 clients, %+v", len(addresses), st)
	}
}

func TestStreamsArriveWholeInPieces(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with the connection
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.Copy(c, c)
	}()
	r, err := New(context.Background(), l.Addr().(*net.TCPAddr).AddrPort(), Impairment{Seed: 4, Split: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := net.Dial("tcp4", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	sent := make([]byte, 300_000)
	newDice(1, 1).fill(sent)
	go func() { // ends when everything is written
		_, _ = c.Write(sent)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes, equal %v: %v", len(got), len(sent), bytes.Equal(got, sent), err)
	}
}

func TestJunkReachesBothSides(t *testing.T) {
	r, err := New(context.Background(), udpEcho(t), Impairment{Seed: 2, JunkPPM: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.WriteToUDPAddrPort([]byte("hello"), r.Addr()); err != nil {
		t.Fatal(err)
	}
	var peer, foreign, real bool
	buf := make([]byte, maxDatagram)
	for !peer || !foreign || !real {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			t.Fatalf("peer %v, foreign %v, real %v: %v", peer, foreign, real, err)
		}
		switch {
		case bytes.HasSuffix(buf[:n], []byte(" hello")):
			real = true
		case from == r.Addr():
			peer = true
		default:
			foreign = true
		}
	}
	if st := r.Close(); st.Junk < 4 {
		t.Errorf("%+v", st)
	}
}

func TestCloseEndsIdleClients(t *testing.T) {
	r, err := New(context.Background(), udpEcho(t), Impairment{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp4", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a client is still connected after Close")
	}
}
