package linksim

import (
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// firstEphemeral is where ports of endpoints that ask for port 0 start (RFC 6335, section 6).
const firstEphemeral = 49152

// Network joins endpoints. Its methods may be called by several goroutines.
type Network struct {
	seed  int64
	start time.Time

	mu         sync.Mutex // guards everything below, the directions and the queues of the endpoints
	defaults   Path
	directions map[pair]*direction
	endpoints  map[netip.AddrPort]*Endpoint
}

type pair struct{ from, to netip.AddrPort }

// direction is the state of one ordered pair of addresses.
type direction struct {
	path    Path
	dice    dice
	n       uint64 // datagrams sent so far: the number of the next one
	highest uint64 // largest number delivered, plus one
	stats   Stats
}

// New makes a network whose directions all follow defaults until SetPath says otherwise. Its clock starts now.
func New(seed int64, defaults Path) *Network {
	return &Network{
		seed: seed, start: time.Now(), defaults: defaults,
		directions: map[pair]*direction{}, endpoints: map[netip.AddrPort]*Endpoint{},
	}
}

// SetPath changes one direction for the datagrams sent from now on.
func (n *Network) SetPath(from, to netip.AddrPort, p Path) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.direction(from, to).path = p
}

// Stats returns the counters of one direction.
func (n *Network) Stats(from, to netip.AddrPort) Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.direction(from, to).stats
}

// Total returns the sum over all directions.
func (n *Network) Total() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	var sum Stats
	for _, d := range n.directions {
		sum = sum.add(d.stats)
	}
	return sum
}

// Listen attaches an endpoint. Port 0 takes the next free port from 49,152.
func (n *Network) Listen(addr netip.AddrPort) (*Endpoint, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr.Port() == 0 {
		free, err := n.freePort(addr.Addr())
		if err != nil {
			return nil, err
		}
		addr = free
	}
	if n.endpoints[addr] != nil {
		return nil, fmt.Errorf("linksim address %s is in use: close its endpoint or choose another port", addr)
	}
	e := newEndpoint(n, addr)
	n.endpoints[addr] = e
	return e, nil
}

func (n *Network) freePort(ip netip.Addr) (netip.AddrPort, error) {
	for port := firstEphemeral; port < 1<<16; port++ {
		if addr := netip.AddrPortFrom(ip, uint16(port)); n.endpoints[addr] == nil {
			return addr, nil
		}
	}
	return netip.AddrPort{}, fmt.Errorf("linksim address %s has no free port: close endpoints", ip)
}

// direction returns the state of a pair, made on first use. The caller holds mu.
func (n *Network) direction(from, to netip.AddrPort) *direction {
	d := n.directions[pair{from, to}]
	if d == nil {
		d = &direction{path: n.defaults, dice: newDice(n.seed, from, to)}
		n.directions[pair{from, to}] = d
	}
	return d
}

// send applies the path to one datagram. The caller keeps b.
func (n *Network) send(from, to netip.AddrPort, b []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.direction(from, to)
	number := d.n
	d.n++
	d.stats.Sent++
	now := time.Now()
	if d.path.blackedOut(now.Sub(n.start)) {
		d.stats.BlackedOut++
		return
	}
	var buf [2]time.Duration
	delays := d.dice.delays(&d.path, number, buf[:0])
	if len(delays) == 0 {
		d.stats.Lost++
		return
	}
	d.stats.Duplicated += int64(len(delays) - 1)
	for _, delay := range delays {
		n.enqueue(d, packet{due: now.Add(delay), number: number, from: from, direction: d, data: append([]byte(nil), b...)}, to)
	}
}

func (n *Network) enqueue(d *direction, p packet, to netip.AddrPort) {
	e := n.endpoints[to]
	switch {
	case e == nil:
		d.stats.Unreachable++
	case d.stats.Queued >= int64(d.path.queue()):
		d.stats.Overflowed++
	default:
		d.stats.Queued++
		e.push(p)
	}
}

// took accounts for a copy that its receiver reads. The caller holds mu.
func (d *direction) took(number uint64) {
	d.stats.Queued--
	d.stats.Delivered++
	if number+1 < d.highest {
		d.stats.Reordered++
		return
	}
	d.highest = number + 1
}
