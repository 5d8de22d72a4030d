package calibrate

import (
	"errors"
	"slices"
	"time"

	"transportbench/analysis/stats"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

const (
	oneWay       = 5 * time.Millisecond // the delay of the published profiles
	idleRounds   = 500                  // round trips
	loadedRounds = 5000
	loadedWindow = 64
)

// delay measures the round trip, one message at a time and with a full window.
func (s *session) delay(b *Backend, plain Plain) error {
	s.say(b.Name + ": round trips at " + oneWay.String() + " one way")
	d := &Delay{OneWayNS: int64(oneWay), NominalNS: 2 * int64(oneWay), Window: loadedWindow}
	err := s.with(b.Name, matrix.LinkSpec{DelayNS: oneWay}, s.seed, func(a *link.Applied) (err error) {
		if d.Idle, err = s.rtt(idleRounds, 1, 2*oneWay); err != nil {
			return err
		}
		if d.Loaded, err = s.rtt(loadedRounds, loadedWindow, 2*oneWay); err != nil {
			return err
		}
		c, err := a.Counters(s.ctx)
		for _, dir := range c.Directions {
			d.LateNS = max(d.LateNS, int64(dir.LateMaxNS))
		}
		return err
	})
	var u *link.UnsupportedError
	if errors.As(err, &u) {
		b.NoDelay = u.Error()
		return nil
	}
	d.AddedNS = d.Idle.P50NS - d.NominalNS - plain.RTT.P50NS
	b.Delay = d
	return err
}

// rtt measures n round trips of lossPayload bytes.
func (s *session) rtt(n, window int, expected time.Duration) (Spread, error) {
	o, err := exchange{messages: n, window: window, payload: lossPayload, rtt: expected}.run(s.ctx)
	if err != nil {
		return Spread{}, err
	}
	return spread(o.rttNS), nil
}

func spread(ns []int64) Spread {
	slices.Sort(ns)
	least, most := stats.Range(ns)
	return Spread{len(ns), least, stats.Quantile(ns, 0.5), stats.Quantile(ns, 0.99), most}
}
