package relay

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// maxDatagram is the largest UDP payload over IPv4.
const maxDatagram = 65507

// peer is one client address with the socket that stands for it towards the server, as behind a NAT.
type peer struct {
	relay    *Relay
	client   netip.AddrPort
	upstream *net.UDPConn
	foreign  *net.UDPConn // source of junk that comes from neither side
	up, down *lane
}

// forwardDatagrams reads what clients send. It ends when the socket is closed.
func (r *Relay) forwardDatagrams() {
	buf := make([]byte, maxDatagram)
	for {
		n, from, err := r.udp.ReadFromUDPAddrPort(buf)
		if err != nil {
			if r.hasEnded() {
				return
			}
			continue // an ICMP error of an earlier datagram
		}
		if p := r.peerOf(from); p != nil {
			p.up.pass(buf[:n])
		}
	}
}

func (r *Relay) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

func (r *Relay) peerOf(client netip.AddrPort) *peer {
	r.mu.Lock()
	p, ok := r.peers[client]
	full := len(r.peers) >= maxPeers
	number := uint64(len(r.peers))
	r.mu.Unlock()
	if ok || full {
		return p
	}
	upstream, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(r.server))
	if err != nil || !r.track(upstream) {
		return nil
	}
	foreign, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil || !r.track(foreign) {
		r.forget(upstream)
		return nil
	}
	p = &peer{relay: r, client: client, upstream: upstream, foreign: foreign}
	p.up = newLane(r, 2*number, p.toServer)
	p.down = newLane(r, 2*number+1, p.toClient)
	r.mu.Lock()
	r.peers[client] = p
	r.mu.Unlock()
	r.wg.Go(p.answers)
	return p
}

// answers forwards what the server sends to this client. It ends when the socket is closed.
func (p *peer) answers() {
	defer p.relay.forget(p.foreign)
	defer p.relay.forget(p.upstream)
	buf := make([]byte, maxDatagram)
	for {
		n, err := p.upstream.Read(buf)
		if err != nil {
			if p.relay.hasEnded() {
				return
			}
			continue // the server's port is closed for now
		}
		p.down.pass(buf[:n])
	}
}

// toServer and toClient deliver one datagram, or junk beside it. Errors are what UDP calls loss.
func (p *peer) toServer(b []byte, foreign bool) {
	if foreign {
		_, _ = p.foreign.WriteToUDPAddrPort(b, p.relay.server)
		return
	}
	_, _ = p.upstream.Write(b)
}

func (p *peer) toClient(b []byte, foreign bool) {
	if foreign {
		_, _ = p.foreign.WriteToUDPAddrPort(b, p.client)
		return
	}
	_, _ = p.relay.udp.WriteToUDPAddrPort(b, p.client)
}

const (
	maxOvertakers = 3                    // datagrams that pass a held one at most
	maxHold       = 2 * time.Millisecond // a held datagram that nothing overtakes leaves after this
)

// lane is one direction of one peer. Its fate per datagram depends on seed and order only.
type lane struct {
	relay *Relay
	send  func(b []byte, foreign bool)

	mu    sync.Mutex // guards what follows, against the timer of a held datagram
	dice  *dice
	held  []byte
	later int // datagrams that still overtake held
}

func newLane(r *Relay, number uint64, send func([]byte, bool)) *lane {
	return &lane{relay: r, send: send, dice: newDice(r.imp.Seed, number)}
}

// pass decides over one datagram. Every datagram draws the same number of dice, so one fate does not shift the next.
func (l *lane) pass(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.relay.datagrams.Add(1)
	imp := l.relay.imp
	drop, repeat, hold, junk := l.dice.hit(imp.DropPPM), l.dice.hit(imp.RepeatPPM), l.dice.hit(imp.HoldPPM), l.dice.hit(imp.JunkPPM)
	later := 1 + l.dice.below(maxOvertakers)
	if junk {
		l.inject()
	}
	switch {
	case drop:
		l.relay.dropped.Add(1)
		return
	case hold && l.held == nil && len(b) > 0:
		l.relay.held.Add(1)
		l.hold(b, later)
		return
	}
	l.send(b, false)
	if repeat {
		l.relay.repeated.Add(1)
		l.send(b, false)
	}
	if l.held == nil {
		return
	}
	if l.later--; l.later <= 0 {
		l.release()
	}
}

func (l *lane) hold(b []byte, later int) {
	mine := append([]byte(nil), b...)
	l.held, l.later = mine, later
	time.AfterFunc(maxHold, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.held) > 0 && &l.held[0] == &mine[0] {
			l.release()
		}
	})
}

func (l *lane) release() {
	b := l.held
	l.held = nil
	l.send(b, false)
}

// inject sends two random datagrams, one as if from the peer and one from a foreign address.
func (l *lane) inject() {
	for _, foreign := range []bool{false, true} {
		b := make([]byte, 1+l.dice.below(1400))
		l.dice.fill(b)
		l.relay.junk.Add(1)
		l.send(b, foreign)
	}
}
