//go:build linux

package udp

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// ends are two connected sockets; what a sender sends on one is read back on the other.
type ends struct{ from, to int }

func newEnds(t *testing.T) ends {
	t.Helper()
	want := buffers{receive: defaultBuffer, send: defaultBuffer}
	to, err := openSocket(netip.AddrPortFrom(loopback, 0), want, false)
	if err != nil {
		t.Fatal(err)
	}
	at, err := localAddr(to)
	if err != nil {
		t.Fatal(err)
	}
	from, err := dial(at, patient.firstPort, 0, want, lostAfterNS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.Close(from), unix.Close(to) })
	return ends{from, to}
}

// drain reads everything that is there.
func (e ends) drain(t *testing.T) [][]byte {
	t.Helper()
	rx, all := newReceiver(8192, false), [][]byte{}
	for {
		n, err := rx.receive(e.to, false)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return all
		}
		for i := range n {
			all = append(all, bytes.Clone(rx.datagram(i)))
		}
	}
}

// numbered makes datagrams of the given sizes whose bytes say which they are.
func numbered(sizes ...int) [][]byte {
	all := make([][]byte, len(sizes))
	for i, size := range sizes {
		all[i] = bytes.Repeat([]byte{byte(i + 1)}, size)
	}
	return all
}

func TestRunsOfOneSize(t *testing.T) {
	repeat := func(n, size int) []int { return slices.Repeat([]int{size}, n) }
	for _, c := range []struct {
		sizes   []int
		headers int // with segmentation offload
	}{
		{[]int{800}, 1},
		{repeat(64, 64), 1},
		{[]int{800, 800, 700}, 1},
		{[]int{800, 800, 700, 700}, 2},
		{[]int{700, 800}, 2},
		{[]int{1382, 1382, 1380, 1382, 1382, 1380}, 2},
		{repeat(64, 1400), 2}, // 46 x 1,400 B are 64,400 B, one more would be over the limit
		{[]int{64, 0, 64}, 3}, // nothing can be cut off as an empty segment
	} {
		for _, gso := range []bool{false, true} {
			t.Run(fmt.Sprint(len(c.sizes), " of ", c.sizes[0], gso), func(t *testing.T) {
				e, s, want := newEnds(t), &sender{gso: gso}, numbered(c.sizes...)
				for _, d := range want {
					s.add(nil, d[:len(d)/3], d[len(d)/3:])
				}
				headers := len(c.sizes)
				if gso {
					headers = c.headers
				}
				if s.used != headers {
					t.Errorf("%d headers, want %d", s.used, headers)
				}
				checkFlush(t, e, s, want)
				if s.gso != gso {
					t.Errorf("segmentation offload was switched to %v", s.gso)
				}
			})
		}
	}
}

func checkFlush(t *testing.T, e ends, s *sender, want [][]byte) {
	t.Helper()
	if err := s.flush(e.from); err != nil {
		t.Fatal(err)
	}
	got := e.drain(t)
	if len(got) != len(want) || s.datagrams != int64(len(want)) || s.queued != 0 {
		t.Fatalf("%d datagrams arrive, %d counted, %d left, want %d", len(got), s.datagrams, s.queued, len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("datagram %d: %d bytes, want %d", i, len(got[i]), len(want[i]))
		}
	}
}

// TestFallbackToSingleDatagrams uses a socket without checksums, on which the kernel refuses to segment (EINVAL or EIO).
func TestFallbackToSingleDatagrams(t *testing.T) {
	e := newEnds(t)
	if err := unix.SetsockoptInt(e.from, unix.SOL_SOCKET, unix.SO_NO_CHECK, 1); err != nil {
		t.Fatal(err)
	}
	s, want := &sender{gso: true}, numbered(100, 800, 800, 800, 64, 64, 900)
	for _, d := range want {
		s.add(nil, nil, d)
	}
	if s.used != 4 {
		t.Fatalf("%d headers, want 4", s.used)
	}
	checkFlush(t, e, s, want)
	if s.gso {
		t.Error("segmentation offload stays on although the kernel refuses it")
	}
	s.datagrams = 0
	want = numbered(64, 64)
	for _, d := range want {
		s.add(nil, nil, d)
	}
	if s.used != 2 {
		t.Errorf("%d headers after the fallback, want 2", s.used)
	}
	checkFlush(t, e, s, want)
}

func TestPeersKeepTheirDatagrams(t *testing.T) {
	a := newEnds(t)
	want := buffers{receive: defaultBuffer, send: defaultBuffer}
	fd, err := openSocket(netip.AddrPortFrom(loopback, 0), want, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if _, err := unix.Write(a.from, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	rx := newReceiver(100, true)
	if n, err := rx.receive(a.to, false); n != 1 || err != nil {
		t.Fatalf("%d datagrams, %v", n, err)
	}
	b := rx.peers[0]
	c := b
	c[2] ^= 1 // another port
	s := &sender{gso: true}
	for _, to := range []*peer{&b, &b, &c, &b} {
		s.add(to, nil, []byte("echo"))
	}
	if s.used != 3 {
		t.Errorf("%d headers, want 3: one peer, another, the first again", s.used)
	}
	if err := s.flush(a.to); err != nil {
		t.Fatal(err)
	}
	back := ends{to: a.from}
	if got := back.drain(t); len(got) != 3 {
		t.Errorf("%d datagrams come back to the first peer, want 3", len(got))
	}
}

func TestTruncationIsSeen(t *testing.T) {
	e, rx := newEnds(t), newReceiver(100, false)
	if _, err := unix.Write(e.from, make([]byte, 500)); err != nil {
		t.Fatal(err)
	}
	if n, err := rx.receive(e.to, false); n != 1 || err != nil {
		t.Fatalf("%d datagrams, %v", n, err)
	}
	if len(rx.datagram(0)) <= 100 {
		t.Errorf("a datagram of 500 bytes looks like one of %d", len(rx.datagram(0)))
	}
}

func TestBurstAfterSinglesIsNoticed(t *testing.T) {
	e := newEnds(t)
	for vain := range 3 * lookEvery {
		s, rx := &sender{}, newReceiver(64, false)
		rx.vain, rx.last = vain, 1
		for _, d := range numbered(slices.Repeat([]int{64}, batch)...) {
			s.add(nil, nil, d)
		}
		if err := s.flush(e.from); err != nil {
			t.Fatal(err)
		}
		for left := batch; left > 0; {
			n, err := rx.receive(e.to, true)
			if err != nil {
				t.Fatal(err)
			}
			left -= n
		}
		if rx.calls > lookEvery {
			t.Errorf("after %d vain looks a burst of %d takes %d calls", vain, batch, rx.calls)
		}
	}
}

func TestNoAllocationPerMessage(t *testing.T) {
	e, s, rx := newEnds(t), &sender{gso: true}, newReceiver(800, false)
	d := make([]byte, 800)
	allocs := testing.AllocsPerRun(100, func() {
		for range batch {
			s.add(nil, nil, d)
		}
		if err := s.flush(e.from); err != nil {
			t.Fatal(err)
		}
		if n, err := rx.receive(e.to, true); n == 0 || err != nil {
			t.Fatal(n, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for %d datagrams", allocs, batch)
	}
}
