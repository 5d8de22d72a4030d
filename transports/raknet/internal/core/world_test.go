package core

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"transportbench/transports/raknet/internal/codec"
)

// world is two sessions, the path between them and the clock.
type world struct {
	rng    *rand.Rand
	now    int64
	queue  events
	serial int
	ends   [2]*end

	watch func() // after every event; may be nil

	loss, duplicate, reorder float64
	delayNS                  int64
	blackFrom, blackTo       int64
}

// end is one side with its application.
type end struct {
	w       *world
	side    int
	s       *Session
	pool    Pool
	out     Outbox
	plan    []int // sizes of the messages still to be sent
	batch   bool
	next    [Channels]uint32 // number of the next message by channel
	want    [Channels]uint32
	loose   map[uint32]bool // numbers of unordered messages that came
	got     int
	expect  int
	stalled int64 // the reader does nothing before this
}

type event struct {
	at     int64
	serial int
	to     int
	data   []byte
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].serial < q[j].serial
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

func newWorld(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 0))
	w := &world{rng: r, now: int64(time.Hour)}
	w.loss = []float64{0, 0.01, 0.05, 0.2}[r.IntN(4)]
	w.duplicate = []float64{0, 0.02, 0.2}[r.IntN(3)]
	w.reorder = []float64{0, 0.05, 0.5}[r.IntN(3)]
	w.delayNS = []int64{5e3, 1e6, 30e6}[r.IntN(3)]
	if r.IntN(3) == 0 {
		w.blackFrom = w.now + r.Int64N(100e6)
		w.blackTo = w.blackFrom + r.Int64N(4e9)
	}
	w.connect([]int{400, 576, 1400, 1492}[r.IntN(4)], Config{})
	w.nearWrap()
	w.plans()
	return w
}

// connect makes both ends.
func (w *world) connect(mtu int, c Config) {
	for i := range w.ends {
		c.Client, c.GUID, c.Handshake = i == 0, int64(i), time.Minute
		cfg := c.WithDefaults()
		e := &end{w: w, side: i, batch: w.rng.IntN(2) == 0}
		e.s = New(&cfg, &e.pool, testPeer, mtu, w.now)
		w.ends[i] = e
	}
}

// nearWrap starts every counter shortly before 2^24.
func (w *world) nearWrap() {
	pick := func() uint32 { return (0 - uint32(w.rng.IntN(40))) & codec.Mask24 }
	for i, e := range w.ends {
		peer := w.ends[1-i].s
		v := pick()
		e.s.nextNumber, peer.numbers.next = v, v
		v = pick()
		e.s.nextIndex, e.s.lowIndex, peer.reliable.base = v, v, v
		e.s.nextSplit = uint16(w.rng.IntN(1 << 16))
		for c := range uint8(3) {
			v = pick()
			e.s.channel(c).sendOrder, peer.channel(c).wantOrder = v, v
		}
	}
}

func (w *world) plans() {
	for i, e := range w.ends {
		for range w.rng.IntN(40) {
			size := 16 + w.rng.IntN(100)
			if w.rng.IntN(4) == 0 {
				size = 16 + w.rng.IntN(4000)
			}
			e.plan = append(e.plan, size)
		}
		w.ends[1-i].expect = len(e.plan)
		if w.rng.IntN(4) == 0 {
			e.stalled = w.now + w.rng.Int64N(3e9)
		}
	}
}

func (w *world) carry(from int, d Datagram) {
	if w.rng.Float64() < w.loss || w.now >= w.blackFrom && w.now < w.blackTo {
		return
	}
	for {
		at := w.now + w.delayNS
		if w.rng.Float64() < w.reorder {
			at += w.rng.Int64N(2 * w.delayNS)
		}
		w.serial++
		data := append(append([]byte(nil), d.Head...), d.Tail...)
		heap.Push(&w.queue, event{at, w.serial, 1 - from, data})
		if w.rng.Float64() >= w.duplicate {
			return
		}
	}
}

// output sends what the session has to send.
func (e *end) output(ackNow bool) {
	e.s.Output(e.w.now, &e.out, ackNow)
	for _, d := range e.out.Datagrams {
		e.w.carry(e.side, d)
	}
	e.out.Reset(&e.pool)
}

func (e *end) send() error {
	var sizes [][]byte
	for range min(len(e.plan), 8) {
		sizes = append(sizes, make([]byte, e.plan[len(sizes)]))
	}
	if e.batch {
		e.s.StartPacking(sizes)
	}
	for len(e.plan) > 0 {
		c, mode := uint8(e.w.rng.IntN(4)), codec.ReliableOrdered
		if c == unordered {
			mode, e.plan[0] = codec.Reliable, min(e.plan[0], e.s.single())
		}
		body := message(e.plan[0], e.side, c, e.next[c])
		err := e.s.Send(&Message{Body: body, Mode: mode, Channel: c, Owned: e.w.rng.IntN(2) == 0})
		if err == ErrWouldBlock {
			return nil
		}
		if err != nil {
			return fmt.Errorf("side %d: send: %w", e.side, err)
		}
		e.next[c]++
		e.plan = e.plan[1:]
		if !e.batch {
			e.output(false)
		}
	}
	return nil
}

// message is numbered and its content follows from its number.
func message(size, side int, c uint8, n uint32) []byte {
	b := make([]byte, size)
	b[0], b[1], b[2] = 0xfe, byte(side), c
	binary.LittleEndian.PutUint32(b[3:], n)
	for i := 7; i < size; i++ {
		b[i] = byte(int(n) + i*7)
	}
	return b
}

// unordered is the channel number that marks reliable messages without order.
const unordered = 3

// expectNumber checks that message n of channel c may come now.
func (e *end) expectNumber(c uint8, n uint32) error {
	if c == unordered {
		if e.loose[n] {
			return fmt.Errorf("side %d: unordered message %d came twice", e.side, n)
		}
		if e.loose == nil {
			e.loose = map[uint32]bool{}
		}
		e.loose[n] = true
		return nil
	}
	if n != e.want[c] {
		return fmt.Errorf("side %d channel %d: message %d came, %d was next", e.side, c, n, e.want[c])
	}
	e.want[c]++
	return nil
}

func (e *end) read() error {
	for e.w.now >= e.stalled {
		b, ok := e.s.Pop()
		if !ok {
			return nil
		}
		c, n := b[2], binary.LittleEndian.Uint32(b[3:])
		if err := e.expectNumber(c, n); err != nil {
			return err
		}
		if string(b) != string(message(len(b), 1-e.side, c, n)) {
			return fmt.Errorf("side %d channel %d: message %d is damaged", e.side, c, n)
		}
		e.got++
		e.pool.Put(b)
	}
	return nil
}

func (e *end) check() error {
	st := e.s.Snapshot()
	switch {
	case e.s.Err() != nil:
		return fmt.Errorf("side %d: %w", e.side, e.s.Err())
	case st.InFlight > FlightFrames || st.Buffered > SoftBuffer+1000:
		return fmt.Errorf("side %d: %d frames in flight, %d B buffered", e.side, st.InFlight, st.Buffered)
	case len(e.s.sent) > 1024 || len(e.s.byIndex) > 2*indexSpan || e.s.heldBytes < 0 || e.s.heldBytes > 1<<20:
		return fmt.Errorf("side %d: tables of %d and %d, %d B held", e.side, len(e.s.sent), len(e.s.byIndex), e.s.heldBytes)
	}
	return nil
}

// step handles everything that is due at the present time on one side.
func (e *end) step() error {
	if e.s.Deadline() <= e.w.now {
		e.s.Tick(e.w.now)
	}
	if e.s.Connected() {
		if err := e.send(); err != nil {
			return err
		}
	}
	if err := e.read(); err != nil {
		return err
	}
	e.output(false)
	return e.check()
}

// deadline is when the side wants its next turn without a datagram.
func (e *end) deadline() int64 {
	d := min(e.s.Deadline(), e.s.AckDue())
	if e.stalled > e.w.now {
		d = min(d, e.stalled)
	}
	return max(d, e.w.now+1)
}

func (w *world) finished() bool {
	for _, e := range w.ends {
		if e.got < e.expect || len(e.plan) > 0 || e.s.Unsent() {
			return false
		}
	}
	return true
}
