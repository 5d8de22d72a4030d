package linksim

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// two joins a client and a server by the same path in both directions.
func two(t *testing.T, seed int64, p Path) (n *Network, client, server *Endpoint) {
	t.Helper()
	n = New(seed, p)
	return n, listen(t, n, clientAddr), listen(t, n, serverAddr)
}

func listen(t *testing.T, n *Network, addr netip.AddrPort) *Endpoint {
	t.Helper()
	e, err := n.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// send writes the numbers from first on, one a datagram.
func send(t *testing.T, from, to *Endpoint, first, count int) {
	t.Helper()
	for i := range count {
		b := binary.LittleEndian.AppendUint32(nil, uint32(first+i))
		if n, err := from.WriteTo(b, to.LocalAddr()); n != len(b) || err != nil {
			t.Fatalf("write of %d: %d, %v", first+i, n, err)
		}
	}
}

// receive reads until nothing came for a minute of the bubble's time.
func receive(t *testing.T, e *Endpoint) (got []int) {
	t.Helper()
	b := make([]byte, 16)
	for {
		e.SetReadDeadline(time.Now().Add(time.Minute))
		n, _, err := e.ReadFrom(b)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return got
		}
		if n != 4 || err != nil {
			t.Fatalf("read: %d, %v", n, err)
		}
		got = append(got, int(binary.LittleEndian.Uint32(b)))
	}
}

func balanced(t *testing.T, n *Network) {
	t.Helper()
	s := n.Total()
	if in, out := s.Sent+s.Duplicated, s.Lost+s.BlackedOut+s.Overflowed+s.Unreachable+s.Delivered+s.Queued; in != out {
		t.Errorf("ledger does not balance: %d in, %d out: %+v", in, out, s)
	}
}

func TestCleanPathKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, client, server := two(t, 1, Path{Delay: time.Millisecond})
		send(t, client, server, 0, 1000)
		got := receive(t, server)
		if len(got) != 1000 || !slices.IsSorted(got) {
			t.Errorf("got %d datagrams, sorted %v; want 1000 in order", len(got), slices.IsSorted(got))
		}
		if s := n.Stats(clientAddr, serverAddr); s != (Stats{Sent: 1000, Delivered: 1000}) {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestDelayIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, client, server := two(t, 1, Path{Delay: 5 * time.Millisecond})
		n.SetPath(serverAddr, clientAddr, Path{Delay: 7 * time.Millisecond})
		start := time.Now()
		b := make([]byte, 1)
		send := func(from, to *Endpoint) {
			from.WriteTo(b, to.LocalAddr())
			if _, addr, err := to.ReadFrom(b); err != nil || addr.String() != from.LocalAddr().String() {
				t.Fatalf("read from %v: %v", addr, err)
			}
		}
		send(client, server)
		if d := time.Since(start); d != 5*time.Millisecond {
			t.Errorf("one way took %v, want 5ms", d)
		}
		send(server, client)
		if d := time.Since(start); d != 12*time.Millisecond {
			t.Errorf("there and back took %v, want 12ms", d)
		}
	})
}

func TestImpairedDirectionRepeatsItself(t *testing.T) {
	p := Path{LossPPM: 50_000, DuplicatePPM: 20_000, ReorderPPM: 30_000, ReorderBy: 3 * time.Millisecond, Jitter: time.Microsecond}
	run := func(t *testing.T, disturb bool) (got []int) {
		synctest.Test(t, func(t *testing.T) {
			n, client, server := two(t, 42, p)
			for i := range 5000 {
				send(t, client, server, i, 1)
				if disturb {
					send(t, server, client, i, 1) // traffic of another direction
				}
			}
			got = receive(t, server)
			balanced(t, n)
			s := n.Stats(clientAddr, serverAddr)
			inBand(t, "lost", int(s.Lost), 5000, p.LossPPM)
			inBand(t, "duplicated", int(s.Duplicated), 5000, p.DuplicatePPM)
			if s.Reordered == 0 || int(s.Delivered) != len(got) {
				t.Errorf("stats %+v, %d datagrams read", s, len(got))
			}
		})
		return got
	}
	if a, b := run(t, false), run(t, true); !slices.Equal(a, b) {
		t.Error("the same seed gave another sequence when the other direction had traffic")
	}
}

func TestReorderingHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, client, server := two(t, 9, Path{ReorderPPM: 100_000, ReorderBy: time.Millisecond})
		send(t, client, server, 0, 1000)
		got := receive(t, server)
		if slices.IsSorted(got) {
			t.Error("nothing was reordered")
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != 1000 {
			t.Error("reordering lost or repeated a datagram")
		}
		inBand(t, "reordered", int(n.Stats(clientAddr, serverAddr).Reordered), 1000, 100_000)
	})
}

func TestBlackout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, client, server := two(t, 1, Path{Blackouts: []Span{{From: 10 * time.Second, Until: 12 * time.Second}}})
		for i := range 30 {
			send(t, client, server, i, 1)
			time.Sleep(time.Second) // the bubble's clock
		}
		got := receive(t, server)
		if len(got) != 28 || slices.Contains(got, 10) || slices.Contains(got, 11) || !slices.Contains(got, 12) {
			t.Errorf("got %v, want all but 10 and 11", got)
		}
		if s := n.Stats(clientAddr, serverAddr); s.BlackedOut != 2 {
			t.Errorf("blacked out %d, want 2", s.BlackedOut)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, client, server := two(t, 1, Path{QueuePackets: 10, Delay: time.Millisecond})
		send(t, client, server, 0, 15)
		if got := receive(t, server); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("got %v, want the first ten", got)
		}
		send(t, client, server, 15, 1)
		if got := receive(t, server); !slices.Equal(got, []int{15}) {
			t.Errorf("after draining got %v, want 15", got)
		}
		if s := n.Stats(clientAddr, serverAddr); s.Overflowed != 5 {
			t.Errorf("overflowed %d, want 5", s.Overflowed)
		}
		balanced(t, n)
	})
}

func TestUnreachable(t *testing.T) {
	n, client, server := two(t, 1, Path{})
	send(t, client, server, 0, 3)
	server.Close()
	send(t, client, server, 3, 2)
	if s := n.Stats(clientAddr, serverAddr); s.Unreachable != 5 || s.Queued != 0 {
		t.Errorf("stats %+v, want 5 unreachable and none queued", s)
	}
	balanced(t, n)
}

func TestCloseAndDeadlineWakeReaders(t *testing.T) {
	for name, test := range map[string]struct {
		wake func(*Endpoint)
		want error
	}{
		"close":    {func(e *Endpoint) { e.Close() }, net.ErrClosed},
		"deadline": {func(e *Endpoint) { e.SetDeadline(time.Now().Add(time.Second)) }, os.ErrDeadlineExceeded},
		"past":     {func(e *Endpoint) { e.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, client, _ := two(t, 1, Path{})
				failed := make(chan error)
				for range 2 {
					go func() {
						_, _, err := client.ReadFrom(make([]byte, 1))
						failed <- err
					}()
				}
				synctest.Wait()
				test.wake(client)
				for range 2 {
					if err := <-failed; !errors.Is(err, test.want) {
						t.Errorf("read ended with %v, want %v", err, test.want)
					}
				}
			})
		})
	}
}

func TestWriteFails(t *testing.T) {
	_, client, server := two(t, 1, Path{})
	client.SetWriteDeadline(time.Unix(1, 0))
	if _, err := client.WriteTo(nil, server.LocalAddr()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write after the deadline: %v", err)
	}
	client.SetWriteDeadline(time.Time{})
	if _, err := client.WriteTo(nil, &net.UnixAddr{Name: "x"}); err == nil {
		t.Error("write to a unix address succeeded")
	}
	client.Close()
	if _, err := client.WriteTo(nil, server.LocalAddr()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	n, _, _ := two(t, 1, Path{})
	if _, err := n.Listen(serverAddr); err == nil {
		t.Error("a second endpoint took the same address")
	}
	a := listen(t, n, netip.MustParseAddrPort("10.0.0.3:0"))
	b := listen(t, n, netip.MustParseAddrPort("10.0.0.3:0"))
	if a.AddrPort().Port() != firstEphemeral || b.AddrPort().Port() != firstEphemeral+1 {
		t.Errorf("ports %v and %v, want 49152 and 49153", a.AddrPort(), b.AddrPort())
	}
	if _, ok := a.LocalAddr().(*net.UDPAddr); !ok {
		t.Errorf("local address is a %T", a.LocalAddr())
	}
}
