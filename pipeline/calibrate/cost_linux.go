package calibrate

import (
	"fmt"

	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

const (
	costPayload = 800 // bytes
	costWindow  = 32  // datagrams of this size that every default receive buffer holds
)

// cost measures every backend without loss, and the plain link, in rounds of rotated order, so that a machine that changes
// its speed changes it for all of them.
func (s *session) cost(r *Report) error {
	into := map[string]*Cost{link.BackendPlain: &r.Plain.Cost}
	names := []string{link.BackendPlain}
	for i := range r.Backends {
		if b := &r.Backends[i]; b.Unsupported == "" {
			b.Cost = &Cost{}
			into[b.Name] = b.Cost
			names = append(names, b.Name)
		}
	}
	for round := range s.o.Rounds {
		for i := range names {
			name := names[(round+i)%len(names)]
			s.say(fmt.Sprintf("cost, round %d of %d: %s", round+1, s.o.Rounds, name))
			if err := s.costOf(name, into[name]); err != nil {
				return fmt.Errorf("cost of %s: %w", name, err)
			}
		}
		for _, name := range names[1:] {
			c := into[name]
			c.AddedCPUNS = append(c.AddedCPUNS, c.CPUNS[round]-r.Plain.Cost.CPUNS[round])
		}
	}
	return nil
}

func (s *session) costOf(name string, c *Cost) error {
	c.PayloadBytes, c.Window, c.Messages = costPayload, costWindow, max(s.o.Packets/20, 1000)
	return s.with(name, matrix.LinkSpec{}, s.seed, func(*link.Applied) error {
		e := exchange{messages: c.Messages, window: c.Window, payload: c.PayloadBytes}
		warm := e
		warm.messages = max(e.messages/10, 1)
		if _, err := warm.run(s.ctx); err != nil {
			return err
		}
		o, err := e.run(s.ctx)
		if err != nil {
			return err
		}
		if n := o.lost(); n > 0 {
			return fmt.Errorf("%d of %d echoes missing without loss", n, c.Messages)
		}
		c.CPUNS = append(c.CPUNS, int64(o.cpu)/int64(2*c.Messages))
		c.BytesPerS = append(c.BytesPerS, float64(c.Messages*c.PayloadBytes)/o.elapsed.Seconds())
		return nil
	})
}
