package link

import (
	"errors"
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

const (
	tableName   = "transportbench"
	overCounter = "over-mtu"
	reg         = 1 // the only nftables register in use
)

// table is an nftables table whose prerouting chain books every TCP and UDP packet on lo under its direction.
// Its owner calls close; the kernel also removes it with the namespace.
type table struct {
	conn  *nftables.Conn
	table *nftables.Table
	names int // of counters
}

// judge gives the rules of one direction, run after the packet was counted as seen.
type judge func(direction int) [][]expr.Any

// openTable installs the whole table in one transaction. It runs before defragmentation, so packets are what crossed lo.
func openTable(p plan, judge judge) (*table, error) {
	conn, err := nftables.New(nftables.AsLasting())
	if err != nil {
		return nil, fmt.Errorf("nftables netlink not opened: %w", err)
	}
	t := &table{conn: conn, table: conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: tableName})}
	t.counter(overCounter)
	sort := conn.AddChain(&nftables.Chain{Name: "sort", Table: t.table})
	for i, name := range directionNames {
		t.direction(i, name, judge(i))
	}
	t.split(sort, p.port, "")
	t.hook(p.mtu)
	if err := conn.Flush(); err != nil {
		return nil, errors.Join(fmt.Errorf("nftables table not installed: %w", err), conn.CloseLasting())
	}
	return t, nil
}

// direction makes the chain that counts and judges the packets of one direction.
func (t *table) direction(i int, name string, rules [][]expr.Any) {
	t.counter("seen-" + name)
	t.counter("dropped-" + name)
	chain := t.conn.AddChain(&nftables.Chain{Name: name, Table: t.table})
	t.add(chain, []expr.Any{count("seen-" + name)})
	for _, r := range rules {
		t.add(chain, r)
	}
}

// split sends a packet to the chain of its direction.
func (t *table) split(from *nftables.Chain, port uint16, prefix string) {
	t.add(from, portIs(payloadDport, port, prefix+directionNames[toServer]))
	t.add(from, portIs(payloadSport, port, prefix+directionNames[toClient]))
	t.add(from, []expr.Any{jump(prefix + directionNames[other])})
}

// countSent adds an output hook that books packets before a qdisc can drop them. It never drops: there the sender would
// see EPERM.
func (t *table) countSent(p plan) error {
	sort := t.conn.AddChain(&nftables.Chain{Name: "sent", Table: t.table})
	for _, name := range directionNames {
		t.counter("sent-" + name)
		chain := t.conn.AddChain(&nftables.Chain{Name: "sent-" + name, Table: t.table})
		t.add(chain, []expr.Any{count("sent-" + name)})
	}
	t.split(sort, p.port, "sent-")
	policy := nftables.ChainPolicyAccept
	chain := t.conn.AddChain(&nftables.Chain{
		Name: "output", Table: t.table, Type: nftables.ChainTypeFilter, Policy: &policy,
		Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityFilter,
	})
	t.protocols(chain, "sent")
	if err := t.conn.Flush(); err != nil {
		return fmt.Errorf("nftables output counters not installed: %w", err)
	}
	return nil
}

// hook makes the base chain: it counts packets over the MTU and sorts TCP and UDP; everything else passes.
func (t *table) hook(mtu int) {
	policy := nftables.ChainPolicyAccept
	chain := t.conn.AddChain(&nftables.Chain{
		Name: "prerouting", Table: t.table, Type: nftables.ChainTypeFilter, Policy: &policy,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityRef(-450), // NF_IP_PRI_RAW_BEFORE_DEFRAG
	})
	t.add(chain, []expr.Any{
		&expr.Meta{Key: expr.MetaKeyLEN, Register: reg},
		&expr.Byteorder{SourceRegister: reg, DestRegister: reg, Op: expr.ByteorderHton, Len: 4, Size: 4},
		&expr.Cmp{Op: expr.CmpOpGt, Register: reg, Data: binaryutil.BigEndian.PutUint32(uint32(mtu))},
		count(overCounter),
	})
	t.protocols(chain, "sort")
}

// protocols sends TCP and UDP on; everything else passes.
func (t *table) protocols(chain *nftables.Chain, target string) {
	for _, protocol := range []byte{unix.IPPROTO_UDP, unix.IPPROTO_TCP} {
		t.add(chain, []expr.Any{
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: reg},
			&expr.Cmp{Op: expr.CmpOpEq, Register: reg, Data: []byte{protocol}},
			jump(target),
		})
	}
}

func (t *table) add(c *nftables.Chain, exprs []expr.Any) {
	t.conn.AddRule(&nftables.Rule{Table: t.table, Chain: c, Exprs: exprs})
}

func (t *table) counter(name string) {
	t.conn.AddObj(&nftables.CounterObj{Table: t.table, Name: name})
	t.names++
}

// Offsets of the ports in the TCP and UDP header.
const (
	payloadSport = 0
	payloadDport = 2
)

// portIs jumps to a chain. A later fragment has no ports and matches nothing.
func portIs(offset uint32, port uint16, chain string) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: reg, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: reg, Data: binaryutil.BigEndian.PutUint16(port)},
		jump(chain),
	}
}

// jump is a goto: the packet does not come back.
func jump(chain string) expr.Any { return &expr.Verdict{Kind: expr.VerdictGoto, Chain: chain} }

func count(name string) expr.Any { return &expr.Objref{Type: unix.NFT_OBJECT_COUNTER, Name: name} }

// packets reads all named counters in one dump.
func (t *table) packets() (map[string]int64, error) {
	objs, err := t.conn.GetObjects(t.table)
	if err != nil {
		return nil, fmt.Errorf("nftables counters not read: %w", err)
	}
	n := make(map[string]int64, len(objs))
	for _, o := range objs {
		if c, ok := o.(*nftables.CounterObj); ok {
			n[c.Name] = int64(c.Packets)
		}
	}
	if len(n) != t.names {
		return nil, fmt.Errorf("nftables table has %d counters, want %d: someone else changed it", len(n), t.names)
	}
	return n, nil
}

// ledger turns the counters into directions; other is left out until it saw a packet.
func (t *table) ledger() ([]Direction, int64, error) {
	n, err := t.packets()
	if err != nil {
		return nil, -1, err
	}
	var ds []Direction
	for i, name := range directionNames {
		d := Direction{Name: name, Seen: n["seen-"+name], Dropped: n["dropped-"+name]}
		if i != other || d.Seen > 0 {
			ds = append(ds, d)
		}
	}
	return ds, n[overCounter], nil
}

// rules reads the rules of one direction back, without the counting rule.
func (t *table) rules(direction int) ([]*nftables.Rule, error) {
	chain := &nftables.Chain{Name: directionNames[direction], Table: t.table}
	rules, err := t.conn.GetRules(t.table, chain)
	if err != nil {
		return nil, fmt.Errorf("nftables chain %s not read back: %w", chain.Name, err)
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("nftables chain %s is empty in the kernel", chain.Name)
	}
	return rules[1:], nil
}

func (t *table) close() error {
	if t == nil {
		return nil
	}
	t.conn.DelTable(t.table)
	err := t.conn.Flush()
	return errors.Join(err, t.conn.CloseLasting())
}
