package calibrate

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"transportbench/analysis/stats"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

const (
	batchSegments = 8
	batchBytes    = 1000 // bytes of one datagram: eight of them are far over the MTU, each is under it
	batchPPM      = 50_000
)

// batches sends UDP_SEGMENT batches and counts how many datagrams of each arrive.
func (s *session) batches(b *Backend, _ Plain) error {
	n := max(s.o.Packets/2/batchSegments, 100)
	s.say(fmt.Sprintf("%s: %d UDP_SEGMENT batches of %d at %g %% loss", b.Name, n, batchSegments, batchPPM/1e4))
	return s.with(b.Name, matrix.LinkSpec{LossPPM: batchPPM}, s.seed, func(a *link.Applied) error {
		o, err := exchange{messages: n * batchSegments, window: 4 * batchSegments, payload: batchBytes, segments: batchSegments, lossy: true}.run(s.ctx)
		if errors.Is(err, unix.ENOPROTOOPT) || errors.Is(err, unix.EINVAL) {
			b.Batch = &Batch{SenderRefused: "kernel takes no UDP_SEGMENT batches"}
			return nil
		}
		if err != nil {
			return err
		}
		c, err := a.Counters(s.ctx)
		b.Batch = newBatch(o.atServer)
		b.Batch.BatchesSent, b.Batch.BatchesOnLo, b.Batch.BufferDrops = c.OverMTU, c.OverMTULo, c.UDP["RcvbufErrors"]
		return err
	})
}

// newBatch finds out from the arrivals what one loss takes away.
func newBatch(arrived []bool) *Batch {
	b := &Batch{
		PlannedPPM: batchPPM, Segments: batchSegments, SegmentBytes: batchBytes, Batches: int64(len(arrived) / batchSegments),
		Arrived: make([]int64, batchSegments+1), Runs: stats.Runs(arrived), Unit: "none",
	}
	for i := 0; i+batchSegments <= len(arrived); i += batchSegments {
		n := 0
		for _, ok := range arrived[i : i+batchSegments] {
			n += int(bit(ok))
		}
		b.Arrived[n]++
		b.Lost += int64(batchSegments - n)
	}
	whole := b.Arrived[0] + b.Arrived[batchSegments]
	switch {
	case b.Lost > 0 && whole == b.Batches:
		b.Unit, b.Units, b.UnitsLost = link.LossUnitBatch, b.Batches, b.Arrived[0]
	case b.Lost > 0:
		b.Unit, b.Units, b.UnitsLost = link.LossUnitDatagram, b.Batches*batchSegments, b.Lost
	}
	b.BandLow, b.BandHigh = stats.BinomialBand(b.Units, float64(batchPPM)/1e6, BandChance)
	b.Inside = b.BandLow <= b.UnitsLost && b.UnitsLost <= b.BandHigh
	return b
}
