package core

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

func fragment(index, id int, count, at uint32, body string) codec.Frame {
	return codec.Frame{
		Mode: codec.ReliableOrdered, Index: uint32(index), Order: 1, Split: true, SplitID: uint16(id), SplitCount: count,
		SplitIndex: at, Body: []byte(body),
	}
}

func TestSplitCounts(t *testing.T) {
	l := newLab(t, 1400)
	l.frames(fragment(2, 1, 0xffffffff, 0, "\xfex"))
	l.frames(fragment(2, 1, 0xffffffff, 0xfffffffe, "\xfex"))
	l.frames(fragment(2, 1, MaxFragments+1, 0, "\xfex"))
	zero := appended(fragment(2, 1, 1, 0, "\xfex"))
	copy(zero[10:], make([]byte, 4)) // count 0
	l.s.Receive(l.now, append(codec.AppendDatagram(nil, codec.HeaderFrames, l.seq), zero...))
	if len(l.s.splits) != 0 || l.s.heldBytes != 0 || l.s.Stats.Malformed != 4 {
		t.Fatalf("%d splits, %d bytes held, %d malformed", len(l.s.splits), l.s.heldBytes, l.s.Stats.Malformed)
	}
}

func TestFragmentsInAnyOrder(t *testing.T) {
	l := newLab(t, 1400)
	l.frames(fragment(4, 1, 3, 2, "C"))
	l.frames(fragment(2, 1, 3, 0, "\xfeA"))
	l.frames(fragment(5, 1, 3, 0, "xx")) // the same fragment with other content: the first one counts
	l.frames(fragment(3, 1, 3, 1, "B"))
	if got := l.messages(); !slices.Equal(got, []string{"\xfeABC"}) {
		t.Fatalf("got %q", got)
	}
	if l.s.heldBytes != 0 {
		t.Fatalf("%d bytes are still charged", l.s.heldBytes)
	}
}

func TestSplitGroupsAreBounded(t *testing.T) {
	l := newLab(t, 1400)
	for id := range splitGroups {
		l.frames(fragment(2+id, id, 100, 0, "\xfe"+strings.Repeat("x", 1000)))
	}
	if l.s.Err() != nil || l.s.heldBytes > 4<<20 {
		t.Fatalf("%v, %d bytes held", l.s.Err(), l.s.heldBytes)
	}
	l.frames(fragment(2+splitGroups, splitGroups, 100, 0, "\xfex"))
	if !errors.Is(l.s.Err(), ErrViolation) || l.s.heldBytes != 0 {
		t.Fatalf("one group too many: %v, %d bytes held", l.s.Err(), l.s.heldBytes)
	}
}

// TestHighFragmentsCost names the highest possible index first in many groups, so that tables would grow to their full size.
func TestHighFragmentsCost(t *testing.T) {
	l := newLab(t, 1400)
	for id := 0; id < splitGroups && l.s.Err() == nil; id++ {
		l.frames(fragment(2+id, id, MaxFragments, MaxFragments-1, "x"))
		if l.s.heldBytes > heldLimit+MaxFragments*bytesPerSlot*2 {
			t.Fatalf("%d bytes held", l.s.heldBytes)
		}
	}
	if !errors.Is(l.s.Err(), ErrViolation) {
		t.Fatalf("memory limit: %v", l.s.Err())
	}
}

func TestUnreliableSplitExpires(t *testing.T) {
	l := newLab(t, 1400)
	f := fragment(0, 1, 2, 0, "\xfex")
	f.Mode = codec.Unreliable
	l.frames(f)
	for range 70 {
		l.pass(int64(time.Second))
		l.frames(codec.Frame{Body: codec.ConnPong{}.Append(nil)}) // still alive
	}
	if len(l.s.splits) != 0 || l.s.Err() != nil {
		t.Fatalf("%d splits, %v", len(l.s.splits), l.s.Err())
	}
}

func TestReliableSplitThatStopsEndsTheSession(t *testing.T) {
	l := newLab(t, 1400)
	l.frames(fragment(2, 1, 2, 0, "\xfex"))
	for range 70 {
		l.pass(int64(time.Second))
		l.frames(codec.Frame{Body: codec.ConnPong{}.Append(nil)})
	}
	if !errors.Is(l.s.Err(), ErrViolation) {
		t.Fatalf("got %v", l.s.Err())
	}
}

func TestPeerThatNeverAcks(t *testing.T) {
	l := newLab(t, 1400)
	sent := 0
	for l.send(1000) == nil {
		sent += 1000
	}
	if sent > SoftBuffer || l.s.Snapshot().InFlight > FlightFrames {
		t.Fatalf("took %d bytes, %d in flight", sent, l.s.Snapshot().InFlight)
	}
	start := l.now
	datagrams := 0
	for l.s.Err() == nil && l.now-start < int64(5*time.Minute) {
		datagrams += data(l.pass(int64(time.Second)))
		l.frames(codec.Frame{Body: codec.ConnPong{}.Append(nil)}) // it does speak
	}
	if !errors.Is(l.s.Err(), ErrDead) || l.now-start > int64(2*time.Minute) {
		t.Fatalf("after %v: %v", time.Duration(l.now-start), l.s.Err())
	}
	if most := 20 * FlightFrames; datagrams > most {
		t.Fatalf("%d datagrams to a peer that acknowledges nothing, want at most %d", datagrams, most)
	}
}

func TestSilentPeer(t *testing.T) {
	l := newLab(t, 1400)
	pings := data(l.pass(int64(31 * time.Second)))
	if !errors.Is(l.s.Err(), ErrTimeout) || pings < 4 || pings > 8 {
		t.Fatalf("%v after %d pings", l.s.Err(), pings)
	}
}

func TestAckOfAnEarlierTransmission(t *testing.T) {
	l := newLab(t, 1400)
	if err := l.send(100); err != nil {
		t.Fatal(err)
	}
	first := l.s.nextNumber
	l.take()
	l.pass(int64(60 * time.Millisecond)) // times out and goes again under the next number
	if l.s.Stats.Timeouts != 1 {
		t.Fatalf("%d timeouts", l.s.Stats.Timeouts)
	}
	l.ack(first, first)
	if l.s.Unsent() || l.s.buffered != 0 || l.s.flightBytes != 0 {
		t.Fatalf("%+v", l.s.Snapshot())
	}
	acked := l.s.Stats.Acked
	l.ack(first+1, first+1)
	l.ack(first, first)
	if l.s.Stats.Acked != acked || l.s.buffered != 0 {
		t.Fatalf("counted again: %+v", l.s.Snapshot())
	}
}

func TestGiantRanges(t *testing.T) {
	l := newLab(t, 1400)
	for range 40 {
		if err := l.send(100); err != nil {
			t.Fatal(err)
		}
	}
	l.take()
	first := l.s.flight.head.number
	var many []codec.Range
	for range 190 {
		many = append(many, codec.Range{First: (first - 1<<22) & codec.Mask24, Last: (first + 1<<22 - 1) & codec.Mask24})
	}
	l.ranges(codec.HeaderNack, many...)
	if l.s.Stats.Nacked != 40 {
		t.Fatalf("%d frames were nacked, 40 are outstanding", l.s.Stats.Nacked)
	}
	l.take()
	l.ranges(codec.HeaderAck, many...)
	if l.s.Unsent() {
		t.Fatalf("%+v", l.s.Snapshot())
	}
	l.ack((l.s.nextNumber+5)&codec.Mask24, (l.s.nextNumber+9)&codec.Mask24) // never sent
	if err := l.send(100); err != nil {
		t.Fatal(err)
	}
	if n := data(l.take()); n != 1 {
		t.Fatalf("%d datagrams after a forged ACK", n)
	}
}

func TestEveryDatagramFits(t *testing.T) {
	for _, mtu := range []int{MinMTU, 576, 1400, 1428, MaxMTU} {
		for size := 1; size <= 5*mtu; size += 7 {
			l := newLab(t, mtu)
			if err := l.send(size); err != nil {
				t.Fatal(err)
			}
			for _, b := range l.take() {
				if len(b) > mtu-codec.UDPOverhead {
					t.Fatalf("MTU %d, message of %d: datagram of %d", mtu, size, len(b))
				}
			}
		}
	}
}

func TestFragmentCounts(t *testing.T) {
	for mtu, want := range map[int]int{1400: 4, 1428: 3} {
		l := newLab(t, mtu)
		if err := l.send(4096); err != nil {
			t.Fatal(err)
		}
		if got := data(l.take()); got != want {
			t.Errorf("4,096 B at MTU %d: %d datagrams, want %d", mtu, got, want)
		}
	}
}

func TestOrderOverTheWrapInReverse(t *testing.T) {
	l := newLab(t, 1400)
	l.s.reliable.base, l.s.channel0.wantOrder, l.s.numbers.next = codec.Mask24-2, codec.Mask24-2, codec.Mask24-2
	var want []string
	for i := range 6 {
		want = append(want, fmt.Sprintf("\xfe%d", i))
	}
	for i := 5; i >= 0; i-- {
		v := (codec.Mask24 - 2 + uint32(i)) & codec.Mask24
		l.seq = v
		l.frames(codec.Frame{Mode: codec.ReliableOrdered, Index: v, Order: v, Body: []byte(want[i])})
	}
	if got := l.messages(); !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
}

func TestIndexOutOfWindow(t *testing.T) {
	l := newLab(t, 1400)
	l.frames(codec.Frame{Mode: codec.ReliableOrdered, Index: 2 + reliableWindow, Order: 1, Body: []byte("\xfex")})
	l.frames(codec.Frame{Mode: codec.Reliable, Index: 1 << 22, Body: []byte("\xfex")})
	if got := l.messages(); len(got) != 0 {
		t.Fatalf("delivered %q", got)
	}
	if got := l.pass(int64(10 * time.Millisecond)); len(got) != 0 {
		t.Fatalf("acknowledged %x", got)
	}
	l.frames(codec.Frame{Mode: codec.ReliableOrdered, Index: 2, Order: 1, Body: []byte("\xfey"), Channel: Channels})
	if l.s.Stats.Malformed != 3 {
		t.Fatalf("%d malformed", l.s.Stats.Malformed)
	}
}

func TestReaderThatNeverReads(t *testing.T) {
	l := newLab(t, 1400)
	body := []byte("\xfe" + strings.Repeat("x", 1200))
	for i := range uint32(20_000) {
		l.frames(codec.Frame{Mode: codec.ReliableOrdered, Index: 2 + i, Order: 1 + i, Body: body})
	}
	if l.s.readyBytes > readyBytes+2000 || l.s.Stats.Dropped == 0 {
		t.Fatalf("%d bytes unread, %d dropped", l.s.readyBytes, l.s.Stats.Dropped)
	}
	l.frames(codec.Frame{Body: codec.ConnPing{}.Append(nil)}) // pings are still answered
	if data(l.pass(int64(5*time.Millisecond))) == 0 {
		t.Fatal("no pong while the reader is behind")
	}
	read := len(l.messages())
	l.seq -= 2
	l.frames(codec.Frame{Mode: codec.ReliableOrdered, Index: 2 + uint32(read), Order: 1 + uint32(read), Body: body})
	if len(l.messages()) != 1 {
		t.Fatal("nothing came after the reader caught up")
	}
}

func TestForgedDisconnect(t *testing.T) {
	l := newLab(t, 1400)
	l.s.Receive(l.now, []byte{codec.IDDisconnect})
	if data(l.take()) != 1 {
		t.Fatal("peer was not asked")
	}
	l.frames(codec.Frame{Body: codec.ConnPong{}.Append(nil)})
	l.pass(int64(3 * time.Second))
	if l.s.Err() != nil {
		t.Fatalf("a forged byte ended the session: %v", l.s.Err())
	}
	l.s.Receive(l.now, []byte{codec.IDDisconnect})
	l.pass(int64(2 * time.Second))
	if !errors.Is(l.s.Err(), ErrPeerGone) {
		t.Fatalf("nobody answered: %v", l.s.Err())
	}
}

func TestTruncatedAccepted(t *testing.T) {
	l := newLab(t, 1400)
	a := codec.ConnAccepted{Client: testPeer, Systems: codec.Fillers()}
	whole := a.Append(nil)
	for n := 1; n < len(whole); n += 3 {
		l.frames(codec.Frame{Body: whole[:n]})
	}
	if l.s.Err() != nil {
		t.Fatal(l.s.Err())
	}
}

// TestPeerWithFewSplitGroups: 4,096 B messages fill the flight, at 5 % loss. Some peers end a connection when more than 16 split
// messages are unfinished; the flight holds 21 and stays well below in what it leaves unfinished.
func TestPeerWithFewSplitGroups(t *testing.T) {
	worst := 0
	for seed := range uint64(50) {
		w := &world{rng: rand.New(rand.NewPCG(seed, 34)), now: int64(time.Hour), loss: 0.05, delayNS: 1e6}
		w.connect(1400, Config{})
		w.ends[0].plan, w.ends[1].expect = slices.Repeat([]int{4096}, 200), 200
		w.watch = func() { worst = max(worst, len(w.ends[1].s.splits)) }
		if err := w.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if worst < 4 || worst > 16 {
		t.Errorf("%d split messages unfinished at once", worst)
	}
	t.Logf("%d split messages unfinished at once", worst)
}
