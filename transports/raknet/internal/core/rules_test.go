package core

import (
	"errors"
	"testing"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

// batch queues n messages of size bytes as one batch call does.
func (l *lab) batch(n, size int) {
	l.t.Helper()
	var msgs [][]byte
	for range n {
		msgs = append(msgs, make([]byte, size))
	}
	l.s.StartPacking(msgs)
	for range n {
		if err := l.send(size); err != nil {
			l.t.Fatal(err)
		}
	}
}

func sizes(sent [][]byte) (out []int) {
	for _, b := range sent {
		out = append(out, len(b))
	}
	return out
}

func TestPacking(t *testing.T) {
	for _, c := range []struct {
		n, size int
		want    []int
	}{
		{16, 64, []int{596, 596}},               // 4 + 8 x 74
		{2, 800, []int{814, 814}},               // would need 1,624 B
		{1, 64, []int{78}},                      // one message is no batch
		{3, 650, []int{4 + 2*660, 664}},         // two fit into 1,372 B
		{2, 4096, []int{1364, 1364, 1364, 100}}, // fragments never share
	} {
		l := newLab(t, 1400)
		l.batch(c.n, c.size)
		got := sizes(l.take())
		if len(got) < len(c.want) {
			t.Fatalf("%d x %d B: %v", c.n, c.size, got)
		}
		for i, w := range c.want {
			if got[i] != w {
				t.Errorf("%d x %d B: %v, want %v", c.n, c.size, got, c.want)
				break
			}
		}
	}
}

func TestPackingEndsWithTheFirstLoss(t *testing.T) {
	for name, lose := range map[string]func(*lab, uint32){
		"nack":    func(l *lab, first uint32) { l.nack(first, first) },
		"gap":     func(l *lab, first uint32) { l.ack(first+1, first+1) },
		"timeout": func(l *lab, _ uint32) { l.now += int64(60 * time.Millisecond); l.s.Tick(l.now) },
	} {
		l := newLab(t, 1400)
		l.batch(16, 64)
		first := l.s.nextNumber
		if got := sizes(l.take()); len(got) != 2 {
			t.Fatalf("%s: %v", name, got)
		}
		lose(l, first)
		for _, n := range sizes(l.take()) {
			if n > 78 {
				t.Errorf("%s: a lost group was sent again in one datagram of %d B", name, n)
			}
		}
		l.batch(4, 64)
		if got := sizes(l.take()); len(got) != 4 || got[0] != 78 {
			t.Errorf("%s: later batch went out as %v", name, got)
		}
		if l.s.Snapshot().Packing {
			t.Errorf("%s: still packing", name)
		}
	}
}

func TestForeignNackChangesNothing(t *testing.T) {
	l := newLab(t, 1400)
	l.batch(16, 64)
	first := l.s.nextNumber
	l.take()
	l.nack(first-3, first-1)
	l.ack(first, first+1)
	l.nack(first, first+1)
	if !l.s.Snapshot().Packing {
		t.Error("a NACK of acknowledged datagrams ended packing")
	}
}

func TestFlightLimit(t *testing.T) {
	l := newLab(t, 1400)
	for range 100 {
		if err := l.send(100); err != nil {
			t.Fatal(err)
		}
	}
	first := l.s.nextNumber
	if got := data(l.take()); got != FlightFrames {
		t.Fatalf("%d datagrams in flight", got)
	}
	if err := l.s.Send(&Message{Body: []byte{0xfe}, Mode: codec.Unreliable}); err != nil {
		t.Fatal(err)
	}
	if got := data(l.take()); got != 1 {
		t.Fatalf("unreliable message waits behind a full flight: %d", got)
	}
	l.ack(first, first+9)
	if got := data(l.take()); got != 10 {
		t.Fatalf("%d datagrams after ten were acknowledged", got)
	}
}

func TestAdmission(t *testing.T) {
	l := newLab(t, 1428)
	n := 0
	for ; l.send(4096) == nil; n++ {
	}
	if n != SoftBuffer/(4096+3*FrameCharge) { // 58
		t.Errorf("%d messages of 4,096 B were admitted", n)
	}
	for acked := l.s.nextNumber; l.s.buffered > SoftBuffer*3/4; {
		if l.s.HasRoom() {
			t.Fatalf("waiting senders are woken with %d B of %d free", SoftBuffer-l.s.buffered, SoftBuffer)
		}
		sent := data(l.take())
		if sent == 0 {
			t.Fatal("nothing is sent though everything was acknowledged")
		}
		l.ack(acked, acked+uint32(sent)-1)
		acked += uint32(sent)
	}
	if !l.s.HasRoom() {
		t.Errorf("waiting senders sleep with %d B of %d free", SoftBuffer-l.s.buffered, SoftBuffer)
	}
	l = newLab(t, 1400)
	if err := l.send(1 << 20); err != nil {
		t.Errorf("a large message into an empty buffer: %v", err)
	}
	if err := l.send(1); err != ErrWouldBlock {
		t.Errorf("another message behind it: %v", err)
	}
	for _, c := range []struct {
		m    Message
		want error
	}{
		{Message{Mode: codec.Reliable}, ErrEmpty},
		{Message{Body: []byte{0x15}}, ErrReserved},
		{Message{Body: []byte{0xfe}, Channel: Channels, Mode: codec.ReliableOrdered}, ErrChannel},
		{Message{Body: append([]byte{0xfe}, make([]byte, 1340)...), Mode: codec.Reliable}, ErrTooLarge},
	} {
		if err := l.s.Send(&c.m); !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
	}
}

func TestRetransmissionTimes(t *testing.T) {
	l := newLab(t, 1400)
	if err := l.send(100); err != nil {
		t.Fatal(err)
	}
	l.s.rtoNS = int64(initialTimeout)
	l.take()
	start := l.now
	var at []int64
	for len(at) < 5 {
		if data(l.pass(int64(time.Millisecond))) > 0 {
			at = append(at, (l.now-start)/int64(time.Millisecond))
		}
	}
	want := []int64{50, 125, 237, 406, 659} // 50 ms, then 1.5 times as long each time
	for i := range want {
		if d := at[i] - want[i]; d < 0 || d > 3 {
			t.Fatalf("retransmissions after %v ms, want %v", at, want)
		}
	}
}

func TestTimeoutFollowsVariation(t *testing.T) {
	l := newLab(t, 1400)
	ms := func(n int64) int64 { return n * int64(time.Millisecond) }
	l.s.srttNS, l.s.rttvarNS = ms(10), 0
	l.s.sample(ms(10))
	if l.s.rtoNS != ms(50) {
		t.Errorf("steady 10 ms: timeout %v, want the least, 50 ms", time.Duration(l.s.rtoNS))
	}
	l.s.sample(ms(90)) // variation 20 ms, srtt 26 ms
	if l.s.rtoNS != ms(26+4*20) {
		t.Errorf("after a jump to 90 ms: timeout %v, want 106 ms", time.Duration(l.s.rtoNS))
	}
	for range 100 {
		l.s.sample(ms(90))
	}
	if d := l.s.rtoNS - ms(135); d < -ms(1) || d > ms(1) {
		t.Errorf("steady 90 ms: timeout %v, want 1.5 x 90 ms", time.Duration(l.s.rtoNS))
	}
}

func TestKarn(t *testing.T) {
	for name, original := range map[string]bool{"retransmission": false, "original": true} {
		l := newLab(t, 1400)
		before := l.s.srttNS
		if err := l.send(100); err != nil {
			t.Fatal(err)
		}
		number := l.s.nextNumber
		l.take()
		l.pass(int64(400 * time.Millisecond))
		if !original {
			number = l.s.nextNumber - 1
		}
		l.ack(number, number)
		want := before // a frame that was sent again is not measured
		if original {
			want = int64(400 * time.Millisecond) // but this says how slow the path is
		}
		if l.s.srttNS != want {
			t.Errorf("acknowledged %s: round trip %v, want %v", name, time.Duration(l.s.srttNS), time.Duration(want))
		}
	}
}

func TestReorderingRaisesTolerance(t *testing.T) {
	l := newLab(t, 1400)
	resent := func() uint64 {
		before := l.s.Stats.Resent
		for range 8 {
			if err := l.send(100); err != nil {
				t.Fatal(err)
			}
		}
		first := l.s.nextNumber
		l.take()
		l.ack(first+1, first+1)
		l.take()
		l.ack(first, first) // it was only late
		l.ack(first+2, l.s.nextNumber-1)
		l.take()
		return l.s.Stats.Resent - before
	}
	if n := resent(); n != 1 {
		t.Errorf("%d frames were sent again at the first gap, want 1: no tolerance without reordering", n)
	}
	if n := resent(); n != 0 {
		t.Errorf("%d frames were sent again although the path reorders", n)
	}
}

func TestAckThresholdCountsFrames(t *testing.T) {
	l := newLab(t, 1400)
	group := func(at uint32) (fs []codec.Frame) {
		for i := range uint32(8) {
			fs = append(fs, codec.Frame{Mode: codec.ReliableOrdered, Index: 2 + at + i, Order: 1 + at + i, Body: []byte("\xfex")})
		}
		return fs
	}
	l.frames(group(0)...)
	if got := l.take(); len(got) != 0 {
		t.Fatalf("eight frames were acknowledged at once: %x", got)
	}
	l.frames(group(8)...)
	if got := l.take(); len(got) != 1 || got[0][0] != codec.HeaderAck {
		t.Fatalf("sixteen frames in two datagrams: %x", got)
	}
	l.frames(codec.Frame{Mode: codec.ReliableOrdered, Index: 18, Order: 17, Body: []byte("\xfex")})
	if got := l.pass(int64(2 * time.Millisecond)); len(got) != 1 {
		t.Fatalf("a lone frame was not acknowledged in time: %x", got)
	}
}

func TestNackOnceAfterAWhile(t *testing.T) {
	l := newLab(t, 1400)
	l.seq += 3
	l.frames(codec.Frame{Mode: codec.Reliable, Index: 2, Body: []byte("\xfex")})
	l.seq -= 3
	l.frames(codec.Frame{Mode: codec.Reliable, Index: 3, Body: []byte("\xfex")}) // one of the three was late
	nacks := 0
	for _, b := range l.pass(int64(time.Second)) {
		if b[0] == codec.HeaderNack {
			nacks++
			a, err := codec.ParseAck(b)
			one, _ := a.Next()
			two, ok := a.Next()
			if err != nil || !ok || one.Len()+two.Len() != 2 {
				t.Errorf("NACK %x", b)
			}
		}
	}
	if nacks != 1 {
		t.Errorf("%d NACKs", nacks)
	}
}

func TestSequencedDropsOldOnes(t *testing.T) {
	l := newLab(t, 1400)
	for _, v := range []uint32{0, 2, 1, 3} {
		l.frames(codec.Frame{Mode: codec.UnreliableSequenced, Sequence: v, Body: []byte{0xfe, byte(v)}})
	}
	if got := l.messages(); len(got) != 3 || got[1] != "\xfe\x02" || got[2] != "\xfe\x03" {
		t.Errorf("got %q", got)
	}
}

func TestDuplicateDatagramCountsOnce(t *testing.T) {
	l := newLab(t, 1400)
	for range 3 {
		l.seq = 7
		l.frames(codec.Frame{Body: []byte("\xfeu")})
	}
	if got := l.messages(); len(got) != 1 {
		t.Errorf("an unreliable message came %d times", len(got))
	}
}
