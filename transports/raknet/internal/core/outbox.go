package core

// Outbox collects datagrams to be sent. What it holds is valid until the next call of Receive, Send, Pop or Close of any session
// of the same pool, except that sessions may go on appending to it.
type Outbox struct {
	Datagrams []Datagram
	arena     []byte
	spent     frameList // unreliable frames: theirs to send, then free
}

// Datagram is one datagram in up to two parts.
type Datagram struct{ Head, Tail []byte }

// Len is the size of d in bytes.
func (d Datagram) Len() int { return len(d.Head) + len(d.Tail) }

// Reset empties o after its datagrams were sent.
func (o *Outbox) Reset(p *Pool) {
	clear(o.Datagrams)
	o.Datagrams = o.Datagrams[:0]
	o.arena = o.arena[:0]
	for f := o.spent.pop(); f != nil; f = o.spent.pop() {
		p.putFrame(f)
	}
}

// scratch returns an empty slice with room for n bytes, and commit makes what was written into it a datagram.
func (o *Outbox) scratch(n int) []byte {
	if cap(o.arena)-len(o.arena) < n {
		o.arena = make([]byte, 0, max(4096, 2*cap(o.arena), n)) // earlier datagrams keep the old array alive
	}
	return o.arena[len(o.arena):len(o.arena):cap(o.arena)]
}

func (o *Outbox) commit(b []byte) {
	o.arena = o.arena[:len(o.arena)+len(b)]
	o.Datagrams = append(o.Datagrams, Datagram{Head: b})
}

// Add appends a datagram built by the caller.
func (o *Outbox) Add(build func(b []byte) []byte) {
	o.commit(build(o.scratch(maxOffline)))
}

// maxOffline is the largest datagram that Add is used for: a request 1 of the largest MTU.
const maxOffline = 2048
