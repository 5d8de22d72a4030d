package link

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// netemTick is the kernel's unit for netem delays: 2^6 ns, PSCHED_SHIFT of include/net/pkt_sched.h. The library would take
// it from /proc/net/psched and count every delay as 0 where that file is hidden.
const netemTick = 64 * time.Nanosecond

// netemBackend is the kernel's own network emulator as the root qdisc of lo.
type netemBackend struct {
	handle *netlink.Handle
	lo     netlink.Link
	table  *table // counts per direction; nil where the kernel has no nf_tables
	delay  time.Duration
}

func (b *netemBackend) install(p plan) error {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("route netlink not opened: %w", err)
	}
	b.handle, b.delay = h, p.delay
	if b.lo, err = h.LinkByName("lo"); err != nil {
		return fmt.Errorf("lo not found: %w", err)
	}
	netem := &netlink.Netem{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: b.lo.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Latency:    uint32(p.delay / netemTick),
		Limit:      uint32(p.limit),
		Loss:       dropThreshold(p.lossPPM),
	}
	if err := h.QdiscReplace(netem); err != nil {
		return fmt.Errorf("netem not set on lo: %w", err)
	}
	b.table, err = openTable(p, func(int) [][]expr.Any { return nil })
	if err != nil {
		b.table = nil // the ledger then has one direction, from the qdisc alone
		return nil
	}
	return b.table.countSent(p)
}

// qdisc finds the netem that is the root of lo now.
func (b *netemBackend) qdisc() (*netlink.Netem, error) {
	qdiscs, err := b.handle.QdiscList(b.lo)
	if err != nil {
		return nil, fmt.Errorf("qdiscs of lo not read: %w", err)
	}
	for _, q := range qdiscs {
		if n, ok := q.(*netlink.Netem); ok && n.Parent == netlink.HANDLE_ROOT {
			return n, nil
		}
	}
	return nil, errors.New("lo has no netem at its root in the kernel")
}

// readBack refuses anything that was not asked for, correlation, reordering and rate limits included.
func (b *netemBackend) readBack(s *State) error {
	q, err := b.qdisc()
	if err != nil {
		return err
	}
	if q.Jitter != 0 || q.Duplicate != 0 || q.ReorderProb != 0 || q.CorruptProb != 0 || q.LossCorr != 0 || q.Rate64 != 0 {
		return fmt.Errorf("netem on lo has settings that nobody made: %s", q)
	}
	s.LossPPM, s.Limit = thresholdPPM(q.Loss), int(q.Limit)
	s.LossUnit = LossUnitBatch
	s.DelayNS = time.Duration(q.Latency) * netemTick
	s.Detail = fmt.Sprintf("root netem limit %d delay %s loss %g%%, unseeded", q.Limit, s.DelayNS, float64(s.LossPPM)/1e4)
	return nil
}

// ledger splits the qdisc's drops by direction as sent minus arrived; where that does not add up, it returns one direction.
func (b *netemBackend) ledger() (ledger, error) {
	whole, err := b.drained()
	if err != nil || b.table == nil {
		return ledger{[]Direction{whole}, -1, -1}, err
	}
	n, err := b.table.packets()
	if err != nil {
		return ledger{}, err
	}
	var ds []Direction
	var dropped int64
	for i, name := range directionNames {
		sent := n["sent-"+name]
		d := Direction{Name: name, Seen: sent, Dropped: sent - n["seen-"+name]}
		dropped += d.Dropped
		if i != other || d.Seen > 0 {
			ds = append(ds, d)
		}
	}
	if dropped != whole.Dropped {
		ds = []Direction{whole}
	}
	return ledger{ds, n[overSent], n[overLo]}, nil
}

// drained waits until no packet is in flight, at most a little over one delay, and returns the totals of the qdisc.
func (b *netemBackend) drained() (Direction, error) {
	deadline := time.Now().Add(b.delay + 20*time.Millisecond)
	for {
		q, err := b.qdisc()
		if err != nil {
			return Direction{}, err
		}
		s := q.Statistics
		if s == nil || s.Basic == nil || s.Queue == nil {
			return Direction{}, errors.New("netem on lo shows no statistics")
		}
		if s.Queue.Qlen == 0 || time.Now().After(deadline) {
			drops := int64(s.Queue.Drops)
			return Direction{Name: bothDirections, Seen: int64(s.Basic.Packets) + drops, Dropped: drops}, nil
		}
		time.Sleep(time.Millisecond)
	}
}

func (b *netemBackend) close() error {
	if b.handle == nil {
		return nil
	}
	err := b.table.close()
	if q, none := b.qdisc(); none == nil {
		err = errors.Join(err, b.handle.QdiscDel(q))
	}
	b.handle.Close()
	b.handle = nil
	return err
}
