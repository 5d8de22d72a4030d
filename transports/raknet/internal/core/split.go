package core

import (
	"slices"

	"transportbench/transports/raknet/internal/codec"
)

// split is a message of which some fragments have arrived.
type split struct {
	id       uint16
	reliable bool
	count    uint32
	got      uint32
	bytes    int
	parts    [][]byte // by index; as long as the highest index seen needs
	movedNS  int64    // last fragment
}

// smallSplit is the number of fragments up to which a split is kept for reuse.
const smallSplit = 64

func (g *split) free(p *Pool) {
	for i, b := range g.parts {
		if b != nil {
			p.Put(b)
			g.parts[i] = nil
		}
	}
	if cap(g.parts) > smallSplit || len(p.splits) >= smallSplit {
		g.parts = nil
		return
	}
	*g = split{parts: g.parts[:0]}
	p.splits = append(p.splits, g)
}

func (p *Pool) getSplit() *split {
	n := len(p.splits)
	if n == 0 {
		return new(split)
	}
	g := p.splits[n-1]
	p.splits[n-1] = nil
	p.splits = p.splits[:n-1]
	return g
}

func (g *split) charge() int { return g.bytes + int(g.got)*FrameCharge + cap(g.parts)*bytesPerSlot }

// join adds a fragment and returns the whole message, in a buffer of the pool, once it is complete.
func (s *Session) join(now int64, f *codec.Frame) []byte {
	g := s.splitOf(now, f)
	if g == nil || g.count != f.SplitCount {
		return nil
	}
	i := int(f.SplitIndex)
	before := g.charge()
	if i >= len(g.parts) {
		g.parts = slices.Grow(g.parts, i+1-len(g.parts))[:i+1]
	}
	if g.parts[i] != nil { // the first one counts
		return nil
	}
	g.parts[i] = s.copied(f.Body)
	g.got++
	g.bytes += len(f.Body)
	g.movedNS = now
	if g.bytes > MaxMessage {
		s.end(ErrViolation)
		return nil
	}
	if s.charged(g.charge() - before); s.phase == closed || g.got < g.count {
		return nil
	}
	return s.whole(g)
}

func (s *Session) whole(g *split) []byte {
	body := s.pool.Get(g.bytes)[:0]
	for _, b := range g.parts {
		body = append(body, b...)
	}
	s.drop(g)
	return body
}

func (s *Session) splitOf(now int64, f *codec.Frame) *split {
	for _, g := range s.splits {
		if g.id == f.SplitID {
			return g
		}
	}
	if len(s.splits) >= splitGroups {
		s.end(ErrViolation)
		return nil
	}
	g := s.pool.getSplit()
	g.id, g.reliable, g.count, g.movedNS = f.SplitID, f.IsReliable(), f.SplitCount, now
	s.heldBytes += g.charge() // the table that comes with it
	s.splits = append(s.splits, g)
	if s.splitDue == 0 {
		s.splitDue = now + int64(splitStall)
	}
	return g
}

func (s *Session) drop(g *split) {
	s.heldBytes -= g.charge()
	i := slices.Index(s.splits, g)
	s.splits = slices.Delete(s.splits, i, i+1)
	g.free(s.pool)
	if len(s.splits) == 0 {
		s.splitDue = 0
	}
}

func (s *Session) splitNS() int64 {
	if s.splitDue == 0 {
		return Never
	}
	return s.splitDue
}

// expireSplits forgets unreliable messages that stopped arriving; a reliable one that stopped for a minute never will arrive.
func (s *Session) expireSplits(now int64) {
	next := Never
	for _, g := range slices.Clone(s.splits) {
		due := g.movedNS + int64(splitStall)
		if now < due {
			next = min(next, due)
			continue
		}
		if g.reliable {
			s.end(ErrViolation)
			return
		}
		s.drop(g)
	}
	if len(s.splits) > 0 {
		s.splitDue = next
	}
}
