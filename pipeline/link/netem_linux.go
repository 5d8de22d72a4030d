package link

import (
	"errors"
	"fmt"
	"net"

	"github.com/google/nftables/expr"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"transportbench/pipeline/matrix"
)

// netemBackend is the kernel's own network emulator as the root qdisc of lo.
type netemBackend struct {
	conn  *netlink.Conn // of the namespace that install ran in
	lo    int32         // interface index
	plan  plan
	table *table // counts per direction; nil where the kernel has no nf_tables
	steps *timeline
}

func (b *netemBackend) install(p plan) error {
	conn, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return fmt.Errorf("route netlink not opened: %w", err)
	}
	b.conn, b.plan = conn, p
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return fmt.Errorf("lo not found: %w", err)
	}
	b.lo = int32(lo.Index)
	if err := b.set(newNetemOptions(p), unix.NLM_F_CREATE|unix.NLM_F_REPLACE); err != nil {
		return fmt.Errorf("netem not set on lo: %w", err)
	}
	b.table, err = openTable(p, func(int) [][]expr.Any { return nil })
	if err != nil && p.more.DuplicatePPM == 0 {
		b.table = nil // the ledger then has one direction, from the qdisc alone
		return nil
	}
	if err != nil {
		return err // without counters before and behind lo nothing tells a copy from a packet
	}
	return b.table.countSent(p)
}

// set makes or changes the qdisc.
func (b *netemBackend) set(o netemOptions, flags netlink.HeaderFlags) error {
	options, err := o.marshal()
	if err != nil {
		return err
	}
	return b.send(unix.RTM_NEWQDISC, flags, options)
}

func (b *netemBackend) send(kind netlink.HeaderType, flags netlink.HeaderFlags, options []byte) error {
	body, err := qdiscMessage(b.lo, options)
	if err != nil {
		return err
	}
	head := netlink.Header{Type: kind, Flags: netlink.Request | netlink.Acknowledge | flags}
	_, err = b.conn.Execute(netlink.Message{Header: head, Data: body})
	return err
}

// root finds the netem that is the root of lo now.
func (b *netemBackend) root() (qdisc, netemOptions, error) {
	head := netlink.Header{Type: unix.RTM_GETQDISC, Flags: netlink.Request | netlink.Dump}
	all, err := b.conn.Execute(netlink.Message{Header: head, Data: make([]byte, tcMsgBytes)})
	if err != nil {
		return qdisc{}, netemOptions{}, fmt.Errorf("qdiscs of lo not read: %w", err)
	}
	for _, m := range all {
		q, err := parseQdisc(m.Data)
		if err != nil {
			return qdisc{}, netemOptions{}, err
		}
		if q.ifindex == b.lo && q.parent == rootParent && q.kind == BackendNetem {
			o, err := parseNetem(q.options)
			return q, o, err
		}
	}
	return qdisc{}, netemOptions{}, errors.New("lo has no netem at its root in the kernel")
}

// readBack refuses anything that was not asked for. What it found is the start of the timeline, so that begins here.
func (b *netemBackend) readBack(s *State) error {
	_, o, err := b.root()
	if err != nil {
		return err
	}
	if o.odd != "" {
		return fmt.Errorf("netem on lo has %s, which nobody asked for", o.odd)
	}
	s.LossPPM, s.Limit = thresholdPPM(o.loss), int(o.limit)
	s.LossUnit = LossUnitBatch
	s.DelayNS, s.More = o.latency, o.impairment()
	s.More.Steps = b.plan.more.Steps // kept by this process, read back one by one when their time comes
	s.Detail = fmt.Sprintf("root netem limit %d delay %s loss %g%%, unseeded", o.limit, s.DelayNS, float64(s.LossPPM)/1e4)
	if s.More != (matrix.Impairment{}) {
		s.Detail += ", " + s.More.String()
	}
	b.steps = newTimeline(b.plan.more.Steps.Used(), b.step)
	return nil
}

// step changes the rate in place, which keeps the queue and its counters, and reads it back.
func (b *netemBackend) step(s matrix.RateStep) error {
	o := newNetemOptions(b.plan)
	o.rateBytesPerS = uint64(s.RateBitPerS / bitsPerByte)
	if err := b.set(o, 0); err != nil {
		return fmt.Errorf("netem not changed: %w", err)
	}
	_, now, err := b.root()
	if err == nil && now.rateBytesPerS != o.rateBytesPerS {
		err = fmt.Errorf("netem rate is %d B/s in the kernel, want %d", now.rateBytesPerS, o.rateBytesPerS)
	}
	return err
}

// close stops the timeline first: it would put the qdisc back.
func (b *netemBackend) close() error {
	if b.conn == nil {
		return nil
	}
	err := errors.Join(b.steps.stop(), b.table.close())
	if _, _, none := b.root(); none == nil {
		err = errors.Join(err, b.send(unix.RTM_DELQDISC, 0, nil))
	}
	err = errors.Join(err, b.conn.Close())
	b.conn, b.table, b.steps = nil, nil, nil
	return err
}
