package matrix

import "fmt"

const (
	certainPPM = 1_000_000
	bitPerKbit = 1000
	minRateBit = 8 * bitPerKbit           // a packet of 1,500 B every 1.5 s
	maxRateBit = 100_000_000 * bitPerKbit // 100 Gbit/s
)

// Problem names the first field of the impairments that asks for the impossible or contradicts another, and says why; both
// are empty when all is well. Fields have their names of the matrix file.
func (l LinkSpec) Problem() (field, why string) {
	for _, check := range []func() (string, string){l.burstProblem, l.orderProblem, l.rateProblem, l.stepProblem} {
		if field, why := check(); field != "" {
			return field, why
		}
	}
	return "", ""
}

func (l LinkSpec) burstProblem() (field, why string) {
	b := l.More.Burst
	if !b.On() {
		return "", ""
	}
	for _, p := range []struct {
		name string
		ppm  int
		low  int
	}{
		{"good_to_bad_percent", b.GoodToBadPPM, 1}, {"bad_to_good_percent", b.BadToGoodPPM, 1},
		{"bad_loss_percent", b.BadLossPPM, 1}, {"good_loss_percent", b.GoodLossPPM, 0},
	} {
		if p.ppm < p.low || p.ppm > certainPPM {
			return "burst_loss." + p.name, fmt.Sprintf("is %s, want %s to 100", percentOf(p.ppm), percentOf(p.low))
		}
	}
	switch {
	case l.LossPPM > 0:
		return "burst_loss", "contradicts loss_percent: a link has one kind of loss"
	case b.BadLossPPM <= b.GoodLossPPM:
		return "burst_loss.bad_loss_percent", "must be above good_loss_percent: else there are no bursts"
	case b.GoodToBadPPM+b.BadToGoodPPM > certainPPM:
		// The chain then alternates rather than stays, and the band of its losses would not hold for a part of the packets.
		return "burst_loss", "changes its state more often than not: good_to_bad_percent and bad_to_good_percent together are over 100"
	case l.More.DuplicatePPM > 0:
		return "burst_loss", "contradicts duplicate_percent: a copy would move the burst on, so the losses could not be checked"
	}
	return "", ""
}

func (l LinkSpec) orderProblem() (field, why string) {
	m := l.More
	switch {
	case m.JitterNS < 0:
		return "jitter", fmt.Sprintf("is %v, want 0s or more", m.JitterNS)
	case m.JitterNS > l.DelayNS:
		return "jitter", fmt.Sprintf("is %v, more than the one_way_delay of %v: a packet cannot leave before it came", m.JitterNS, l.DelayNS)
	case m.ReorderPPM < 0 || m.ReorderPPM >= certainPPM:
		return "reorder_percent", fmt.Sprintf("is %s, want 0 to less than 100", percentOf(m.ReorderPPM))
	case m.ReorderPPM > 0 && l.DelayNS == 0:
		return "reorder_percent", "needs a one_way_delay: a reordered packet is one that leaves without it"
	case m.ReorderPPM > 0 && m.RateBitPerS > 0:
		return "reorder_percent", "contradicts rate_kbit_per_s: a packet that leaves at once would pass the rate by"
	case m.DuplicatePPM < 0 || m.DuplicatePPM >= certainPPM:
		return "duplicate_percent", fmt.Sprintf("is %s, want 0 to less than 100", percentOf(m.DuplicatePPM))
	}
	return "", ""
}

func (l LinkSpec) rateProblem() (field, why string) {
	if r := l.More.RateBitPerS; r != 0 && !rateOK(r) {
		return "rate_kbit_per_s", rateRange(r)
	}
	return "", ""
}

func (l LinkSpec) stepProblem() (field, why string) {
	last := RateStep{RateBitPerS: l.More.RateBitPerS}
	for i, s := range l.More.Steps {
		path := fmt.Sprintf("rate_steps[%d]", i)
		switch used := len(l.More.Steps.Used()); {
		case i >= used && s != (RateStep{}):
			return path, "follows an empty step"
		case i >= used:
			return "", ""
		case last.RateBitPerS == 0:
			return "rate_steps", "needs rate_kbit_per_s, the rate before the first step"
		case !rateOK(s.RateBitPerS):
			return path + ".rate_kbit_per_s", rateRange(s.RateBitPerS)
		case s.AfterNS <= last.AfterNS || s.AfterNS > maxDuration:
			return path + ".after", fmt.Sprintf("is %v, want more than %v and at most %v", s.AfterNS, last.AfterNS, maxDuration)
		case s.RateBitPerS == last.RateBitPerS:
			return path + ".rate_kbit_per_s", "is the rate before it: the step changes nothing"
		}
		last = s
	}
	return "", ""
}

func rateOK(r int64) bool { return r >= minRateBit && r <= maxRateBit && r%bitPerKbit == 0 }

func rateRange(r int64) string {
	return fmt.Sprintf("is %d bit/s, want %d to %d kbit/s, whole", r, minRateBit/bitPerKbit, maxRateBit/bitPerKbit)
}
