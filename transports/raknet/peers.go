//go:build linux

package raknet

import "transportbench/transports/raknet/internal/sock"

// peerTable finds a listener's connections by source address: open addressing with linear probing, at most half full. The seed
// keeps strangers from choosing addresses that collide.
type peerTable struct {
	slots []*Conn
	keys  []sock.Key
	n     int
	seed  uint64
}

func (t *peerTable) hash(k sock.Key) int {
	h := t.seed
	for _, v := range [3]uint64{k.Hi, k.Lo, uint64(k.Port)<<32 | uint64(k.Scope)} {
		h = (h ^ v) * 0x9e3779b97f4a7c15 // golden ratio: spreads every input bit upwards
		h ^= h >> 32
	}
	return int(h) & (len(t.slots) - 1)
}

func (t *peerTable) find(k sock.Key) *Conn {
	if t.n == 0 {
		return nil
	}
	for i := t.hash(k); t.slots[i] != nil; i = (i + 1) & (len(t.slots) - 1) {
		if t.keys[i] == k {
			return t.slots[i]
		}
	}
	return nil
}

// add enters c, whose key must not be there.
func (t *peerTable) add(k sock.Key, c *Conn) {
	if 2*(t.n+1) > len(t.slots) {
		old := *t
		t.slots, t.keys = make([]*Conn, max(16, 2*len(old.slots))), make([]sock.Key, max(16, 2*len(old.slots)))
		for i, c := range old.slots {
			if c != nil {
				t.place(old.keys[i], c)
			}
		}
	}
	t.place(k, c)
	t.n++
}

func (t *peerTable) place(k sock.Key, c *Conn) {
	i := t.hash(k)
	for t.slots[i] != nil {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i], t.keys[i] = c, k
}

// remove takes c out and moves later entries of the run up, so that no tombstones are needed.
func (t *peerTable) remove(k sock.Key, c *Conn) {
	if t.n == 0 {
		return
	}
	mask := len(t.slots) - 1
	i := t.hash(k)
	for ; t.slots[i] != c; i = (i + 1) & mask {
		if t.slots[i] == nil {
			return
		}
	}
	t.n--
	for j := (i + 1) & mask; ; j = (j + 1) & mask {
		if t.slots[j] == nil {
			t.slots[i] = nil
			return
		}
		home := t.hash(t.keys[j])
		if (j-home)&mask >= (j-i)&mask {
			t.slots[i], t.keys[i] = t.slots[j], t.keys[j]
			i = j
		}
	}
}
