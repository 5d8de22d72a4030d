package calibrate

import (
	"fmt"

	"transportbench/analysis/stats"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

// lossLevels are the planned loss rates, in parts per million: those of the published profiles.
var lossLevels = []int{0, 10_000, 50_000}

const (
	lossWindow  = 32 // small enough for the smallest receive buffer, so that nothing is lost there
	lossPayload = 64 // bytes
)

// losses counts what arrives by number, both ways, at each loss rate.
func (s *session) losses(b *Backend, _ Plain) error {
	for _, ppm := range lossLevels {
		s.say(fmt.Sprintf("%s: %d datagrams at %g %% loss", b.Name, s.o.Packets, float64(ppm)/1e4))
		if err := s.with(b.Name, matrix.LinkSpec{LossPPM: ppm}, s.seed, func(a *link.Applied) error {
			o, err := exchange{messages: s.o.Packets, window: lossWindow, payload: lossPayload, lossy: ppm > 0}.run(s.ctx)
			if err != nil {
				return err
			}
			c, err := a.Counters(s.ctx)
			if ppm == 10_000 {
				b.Detail = a.State().Detail
			}
			b.Loss = append(b.Loss, newLoss(ppm, "to-server", o.atServer, o.outOfOrder[0], c), newLoss(ppm, "to-client", o.echoes(), o.outOfOrder[1], c))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// echoes are the arrivals at the client of what the server sent back.
func (o *outcome) echoes() []bool {
	var arrived []bool
	for i, sent := range o.atServer {
		if sent {
			arrived = append(arrived, o.atClient[i])
		}
	}
	return arrived
}

// newLoss judges the arrivals of one direction, in order of sending.
func newLoss(ppm int, direction string, arrived []bool, outOfOrder int64, c link.Counters) Loss {
	l := Loss{PlannedPPM: ppm, Direction: direction, Packets: int64(len(arrived)), OutOfOrder: outOfOrder, Ledger: -1, BufferDrops: c.UDP["RcvbufErrors"]}
	burst := int64(0)
	for _, ok := range arrived {
		burst++
		if ok {
			burst = 0
		} else {
			l.Lost++
		}
		l.LongestBurst = max(l.LongestBurst, burst)
	}
	for _, d := range c.Directions {
		if d.Name == direction {
			l.Ledger = d.Dropped
		}
		l.QueueDrops += d.Overflow
	}
	l.BandLow, l.BandHigh = stats.BinomialBand(l.Packets, float64(ppm)/1e6, BandChance)
	l.Inside = l.BandLow <= l.Lost && l.Lost <= l.BandHigh
	l.Runs = stats.Runs(arrived)
	return l
}
