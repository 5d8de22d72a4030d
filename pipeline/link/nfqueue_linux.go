package link

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/google/nftables/expr"
	"github.com/google/nftables/xt"

	"transportbench/pipeline/link/nfqueue"
	"transportbench/pipeline/matrix"
)

// queueBackend judges packets in this process: loss and delay, seeded and replayable.
type queueBackend struct {
	plan   plan
	table  *table
	server *nfqueue.Server
	how    string // which expression the kernel took
}

// Queue numbers are the directions: the namespace is ours alone.
var queueNumbers = []uint16{toServer, toClient, other}

// install starts the reader before the rules: a rule without a reader drops everything.
func (b *queueBackend) install(p plan) error {
	b.plan = p
	f := newFates(p)
	o := nfqueue.Options{Limit: p.limit, Ordered: orderly(p.more)}
	server, err := nfqueue.Serve(queueNumbers, o, func(queue uint16, ip []byte, nowNS int64) (int64, bool) {
		return f.judge(int(queue), connection(int(queue), ip), nfqueue.Length(ip), nowNS)
	})
	if err != nil {
		return err
	}
	b.server = server
	return b.rules(p)
}

// rules tries the nftables expression, then the older xtables target, because kernels are built with either.
func (b *queueBackend) rules(p plan) error {
	var errs []error
	for _, way := range []struct {
		name string
		rule func(queue uint16) expr.Any
	}{{"queue", queueExpr}, {"xt NFQUEUE", queueTarget}} {
		t, err := openTable(p, func(direction int) [][]expr.Any { return [][]expr.Any{{way.rule(uint16(direction))}} })
		if err == nil {
			b.table, b.how = t, way.name
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", way.name, err))
	}
	return errors.Join(errs...)
}

func queueExpr(queue uint16) expr.Any { return &expr.Queue{Num: queue} }

// queueTarget is revision 0 of struct xt_NFQ_info, padded to the alignment of xtables (XT_ALIGN).
func queueTarget(queue uint16) expr.Any {
	info := xt.Unknown(binary.NativeEndian.AppendUint16(nil, queue))
	info = append(info, make([]byte, 6)...)
	return &expr.Target{Name: "NFQUEUE", Info: &info}
}

// connection is the client's port: the source towards the server, the destination back. Without ports it is 0.
func connection(direction int, ip []byte) uint16 {
	src, dst, _ := nfqueue.Ports(ip)
	if direction == toClient {
		return dst
	}
	return src
}

// readBack requires one queue rule per direction and a live reader on each queue. Loss and delay are this process's own.
func (b *queueBackend) readBack(s *State) error {
	for i, name := range directionNames {
		rules, err := b.table.rules(i)
		if err != nil {
			return err
		}
		if len(rules) != 1 || len(rules[0].Exprs) != 1 {
			return fmt.Errorf("nftables chain %s: rules in the kernel are not the ones installed", name)
		}
		if n, err := queueOf(rules[0].Exprs[0]); err != nil || n != queueNumbers[i] {
			return fmt.Errorf("nftables chain %s sends to queue %d, want %d: %w", name, n, queueNumbers[i], err)
		}
	}
	if _, err := b.overflow(); err != nil {
		return err
	}
	s.LossPPM, s.DelayNS, s.More = b.plan.lossPPM, b.plan.delay, b.plan.more
	s.LossUnit = LossUnitDatagram
	s.Seed = hex.EncodeToString(b.plan.seed[:])
	s.Detail = fmt.Sprintf("inet prerouting: %s to queues 0-2, drop by SipHash below %d ppm, hold %s", b.how, s.LossPPM, s.DelayNS)
	if s.More != (matrix.Impairment{}) {
		s.Detail += ", " + s.More.String()
	}
	return nil
}

func queueOf(e expr.Any) (uint16, error) {
	switch e := e.(type) {
	case *expr.Queue:
		return e.Num, nil
	case *expr.Target:
		if info, ok := e.Info.(*xt.Unknown); ok && e.Name == "NFQUEUE" && len(*info) >= 2 {
			return binary.NativeEndian.Uint16(*info), nil
		}
	}
	return 0, fmt.Errorf("rule is a %T, not a queue", e)
}

// ledger books the judged packets; what the kernel dropped because a queue or its socket was full stands apart.
func (b *queueBackend) ledger() (ledger, error) {
	if err := b.server.Err(); err != nil {
		return ledger{}, err
	}
	n, err := b.table.packets()
	if err != nil {
		return ledger{}, err
	}
	overflow, err := b.overflow()
	if err != nil {
		return ledger{}, err
	}
	var ds []Direction
	for i, name := range directionNames {
		c := b.server.Count(i)
		if i != other || c.Judged > 0 {
			ds = append(ds, Direction{Name: name, Seen: c.Judged, Dropped: c.Dropped, Overflow: overflow[queueNumbers[i]], LateMaxNS: c.LateMax})
		}
	}
	return ledger{ds, n[overSent], n[overLo]}, nil
}

// overflow reads the kernel's drop counts per queue and requires every queue to have its reader.
func (b *queueBackend) overflow() (map[uint16]int64, error) {
	text, err := os.ReadFile("/proc/thread-self/net/netfilter/nfnetlink_queue")
	if err != nil {
		return nil, fmt.Errorf("queue counters not read: %w", err)
	}
	drops, err := parseQueues(text)
	if err != nil {
		return nil, err
	}
	for _, q := range queueNumbers {
		if _, ok := drops[q]; !ok {
			return nil, fmt.Errorf("queue %d has no reader in the kernel: every packet sent to it is lost", q)
		}
	}
	return drops, nil
}

func (b *queueBackend) close() error {
	err := b.table.close()
	b.table = nil
	if b.server != nil {
		err = errors.Join(err, b.server.Close())
		b.server = nil
	}
	return err
}
