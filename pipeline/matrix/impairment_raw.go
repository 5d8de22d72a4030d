package matrix

import "time"

// rawImpairment are the fields of a profile that become an Impairment.
type rawImpairment struct {
	BurstLoss        *rawBurst     `yaml:"burst_loss"`
	Jitter           span          `yaml:"jitter"`
	ReorderPercent   percent       `yaml:"reorder_percent"`
	DuplicatePercent percent       `yaml:"duplicate_percent"`
	Rate             *integer      `yaml:"rate_kbit_per_s"`
	RateSteps        []rawRateStep `yaml:"rate_steps"`
}

type rawBurst struct {
	GoodToBad percent `yaml:"good_to_bad_percent"`
	BadToGood percent `yaml:"bad_to_good_percent"`
	BadLoss   percent `yaml:"bad_loss_percent"`
	GoodLoss  percent `yaml:"good_loss_percent"`
}

type rawRateStep struct {
	After span    `yaml:"after"`
	Rate  integer `yaml:"rate_kbit_per_s"`
}

// impairment turns the raw fields into a spec; what they say together is judged by LinkSpec.Problem.
func (c *checker) impairment(path string, raw rawImpairment) Impairment {
	i := Impairment{JitterNS: time.Duration(raw.Jitter), ReorderPPM: int(raw.ReorderPercent), DuplicatePPM: int(raw.DuplicatePercent)}
	if b := raw.BurstLoss; b != nil {
		i.Burst = BurstLoss{GoodToBadPPM: int(b.GoodToBad), BadToGoodPPM: int(b.BadToGood), BadLossPPM: int(b.BadLoss), GoodLossPPM: int(b.GoodLoss)}
		if !i.Burst.On() {
			c.fail(path+".burst_loss", "says nothing: give good_to_bad_percent, bad_to_good_percent and bad_loss_percent")
		}
	}
	if raw.Rate != nil {
		i.RateBitPerS = c.rate(path+".rate_kbit_per_s", *raw.Rate)
	}
	if len(raw.RateSteps) > MaxRateSteps {
		c.fail(path+".rate_steps", "has %d entries, want at most %d", len(raw.RateSteps), MaxRateSteps)
		return i
	}
	for n, s := range raw.RateSteps {
		i.Steps[n] = RateStep{time.Duration(s.After), c.rate(path+".rate_steps", s.Rate)}
	}
	return i
}

// rate turns kbit/s into bit/s; the range is checked here, because zero would mean no limit and a huge one would overflow.
func (c *checker) rate(path string, kbit integer) int64 {
	c.count(path, int(kbit), minRateBit/bitPerKbit, maxRateBit/bitPerKbit)
	return min(max(int64(kbit), 0), maxRateBit/bitPerKbit) * bitPerKbit
}
