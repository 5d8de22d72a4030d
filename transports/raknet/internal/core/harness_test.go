package core

import (
	"net/netip"
	"testing"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

var testPeer = netip.MustParseAddrPort("192.0.2.1:19132")

// lab is one connected session whose peer is the test.
type lab struct {
	t    *testing.T
	s    *Session
	pool Pool
	out  Outbox
	now  int64
	seq  uint32 // next datagram number of the peer
}

func newLab(t *testing.T, mtu int) *lab {
	t.Helper()
	l := &lab{t: t, now: 1e12}
	cfg := Config{}.WithDefaults()
	l.s = New(&cfg, &l.pool, testPeer, mtu, l.now)
	l.frames(codec.Frame{Mode: codec.Reliable, Body: codec.ConnRequest{GUID: 1}.Append(nil)})
	n := codec.NewIncoming{Systems: codec.Fillers()}
	l.frames(codec.Frame{Mode: codec.ReliableOrdered, Index: 1, Body: n.Append(nil)})
	l.take()
	if !l.s.Connected() {
		t.Fatal("session did not connect")
	}
	l.ack(0, (l.s.nextNumber-1)&codec.Mask24)
	l.pass(int64(2 * time.Millisecond)) // the acknowledgements of the handshake
	return l
}

// frames gives the session one datagram with the frames.
func (l *lab) frames(frames ...codec.Frame) {
	b := codec.AppendDatagram(nil, codec.HeaderFrames, l.seq)
	for _, f := range frames {
		b = f.Append(b)
	}
	l.seq = (l.seq + 1) & codec.Mask24
	l.s.Receive(l.now, b)
}

func (l *lab) ack(first, last uint32) {
	l.ranges(codec.HeaderAck, codec.Range{First: first, Last: last})
}
func (l *lab) nack(first, last uint32) {
	l.ranges(codec.HeaderNack, codec.Range{First: first, Last: last})
}

func (l *lab) ranges(header byte, r ...codec.Range) {
	b, _ := codec.AppendAck(nil, header, r, 1400)
	l.s.Receive(l.now, b)
}

// take returns copies of what the session sends now.
func (l *lab) take() (sent [][]byte) {
	l.s.Output(l.now, &l.out, false)
	for _, d := range l.out.Datagrams {
		sent = append(sent, append(append([]byte(nil), d.Head...), d.Tail...))
	}
	l.out.Reset(&l.pool)
	return sent
}

// pass lets time go by, with every turn that the session asks for, and returns what it sent.
func (l *lab) pass(ns int64) (sent [][]byte) {
	end := l.now + ns
	for turns := 0; ; turns++ {
		if turns > 100_000 {
			l.t.Fatalf("session keeps asking for turns: deadline %d, acks %d, now %d, %+v", l.s.Deadline(), l.s.AckDue(), l.now, l.s.Snapshot())
		}
		next := min(l.s.Deadline(), l.s.AckDue())
		if next > end {
			l.now = end
			return sent
		}
		l.now = max(l.now, next)
		l.s.Tick(l.now)
		sent = append(sent, l.take()...)
		l.now++
	}
}

func (l *lab) send(size int) error {
	b := make([]byte, size)
	b[0] = 0xfe
	return l.s.Send(&Message{Body: b, Mode: codec.ReliableOrdered})
}

// messages pops everything that is ready.
func (l *lab) messages() (all []string) {
	for b, ok := l.s.Pop(); ok; b, ok = l.s.Pop() {
		all = append(all, string(b))
		l.pool.Put(b)
	}
	return all
}

// data counts the datagrams with frames among sent.
func data(sent [][]byte) (n int) {
	for _, b := range sent {
		if b[0]&(codec.FlagAck|codec.FlagNack) == 0 {
			n++
		}
	}
	return n
}

func appended(f codec.Frame) []byte { return f.Append(nil) }
