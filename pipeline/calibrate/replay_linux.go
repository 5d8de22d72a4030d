package calibrate

import (
	"fmt"

	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

// replay sends the same datagrams twice with one seed and once with another.
func (s *session) replay(b *Backend, _ Plain) error {
	r := &Replay{Packets: max(s.o.Packets/10, 1000)}
	s.say(fmt.Sprintf("%s: 3 x %d datagrams with two seeds", b.Name, r.Packets))
	another := s.seed
	another[0] ^= 1
	for _, step := range []struct {
		seed [32]byte
		to   *string
	}{{s.seed, &r.First}, {s.seed, &r.Second}, {another, &r.Other}} {
		if err := s.with(b.Name, matrix.LinkSpec{LossPPM: 50_000}, step.seed, func(*link.Applied) error {
			o, err := exchange{messages: r.Packets, window: lossWindow, payload: lossPayload, lossy: true}.run(s.ctx)
			if err != nil {
				return err
			}
			if *step.to = o.digest(); step.to == &r.First {
				r.Lost = o.lost()
			}
			return nil
		}); err != nil {
			return err
		}
	}
	r.SameDrops = r.First == r.Second
	b.Replay = r
	return nil
}

// lost counts the datagrams of both directions that did not arrive.
func (o *outcome) lost() (n int64) {
	for i := range o.atServer {
		if !o.atServer[i] || !o.atClient[i] {
			n++
		}
	}
	return n
}
