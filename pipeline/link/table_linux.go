package link

import (
	"errors"
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

const (
	tableName = "transportbench"
	overSent  = "over-mtu-sent"
	overLo    = "over-mtu-lo"
	reg       = 1 // the only nftables register in use
)

// table is an nftables table whose prerouting chain books every TCP and UDP packet on lo under its direction.
// Its owner calls close; the kernel also removes it with the namespace.
type table struct {
	conn  *nftables.Conn
	table *nftables.Table
	out   *nftables.Chain // of the output hook
	names int             // of counters
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
	t.counter(overSent)
	t.counter(overLo)
	sort := conn.AddChain(&nftables.Chain{Name: "sort", Table: t.table})
	for i, name := range directionNames {
		t.direction(i, name, judge(i))
	}
	t.split(sort, p.port, "")
	t.hooks(p.mtu)
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

// hooks makes the base chains. Both count packets over the MTU: at the output a batch that the sender built, on lo one that
// was not split before it met the loss.
func (t *table) hooks(mtu int) {
	in := t.base("prerouting", nftables.ChainHookPrerouting, nftables.ChainPriorityRef(-450)) // NF_IP_PRI_RAW_BEFORE_DEFRAG
	t.add(in, longer(mtu, overLo))
	t.protocols(in, "sort")
	t.out = t.base("output", nftables.ChainHookOutput, nftables.ChainPriorityFilter)
	t.add(t.out, longer(mtu, overSent))
}

func (t *table) base(name string, hook *nftables.ChainHook, priority *nftables.ChainPriority) *nftables.Chain {
	policy := nftables.ChainPolicyAccept
	return t.conn.AddChain(&nftables.Chain{
		Name: name, Table: t.table, Type: nftables.ChainTypeFilter, Policy: &policy, Hooknum: hook, Priority: priority,
	})
}

// countSent also books packets in the output hook, before a qdisc can drop them. It never drops: there the sender would see
// EPERM.
func (t *table) countSent(p plan) error {
	sort := t.conn.AddChain(&nftables.Chain{Name: "sent", Table: t.table})
	for _, name := range directionNames {
		t.counter("sent-" + name)
		chain := t.conn.AddChain(&nftables.Chain{Name: "sent-" + name, Table: t.table})
		t.add(chain, []expr.Any{count("sent-" + name)})
	}
	t.split(sort, p.port, "sent-")
	t.protocols(t.out, "sent")
	if err := t.conn.Flush(); err != nil {
		return fmt.Errorf("nftables output counters not installed: %w", err)
	}
	return nil
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
func (t *table) ledger() (ledger, error) {
	n, err := t.packets()
	if err != nil {
		return ledger{}, err
	}
	var ds []Direction
	for i, name := range directionNames {
		d := Direction{Name: name, Seen: n["seen-"+name], Dropped: n["dropped-"+name]}
		if i != other || d.Seen > 0 {
			ds = append(ds, d)
		}
	}
	return ledger{ds, n[overSent], n[overLo]}, nil
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
