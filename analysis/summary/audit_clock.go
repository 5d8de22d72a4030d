package summary

import (
	"fmt"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/transports/wire"
)

// What bench's own clock may differ by: 1 % of the burst, the time until a record has been read, and what the client needs to sort and
// write its RTTs between the end of the burst and its result.
const (
	clockShare    = 0.01
	clockFixedNS  = 100e6
	clockSampleNS = 2e3
	clockShortest = 1e9 // below a second the fixed part hides everything, so a difference is only noted
)

// clock: the burst by bench's clock agrees with the client's. A disturbed or very short run is noted, because a record may
// have been read late.
func (u *run) clock() {
	outside, inside := float64(u.OutsideBurstNS), float64(u.Client.Result.ElapsedNS)
	if u.OutsideBurstNS == 0 {
		u.Note(false, "outside-clock", u.path, "the burst by bench's own clock", "not recorded")
		return
	}
	n := 0
	for _, s := range u.Series {
		n += s.N
	}
	slack := clockShare*inside + clockFixedNS
	ok := outside >= inside-slack && outside <= inside+slack+clockSampleNS*float64(n)
	expected := fmt.Sprintf("%.0f ns within 1 %%, %.0f ms and %.0f us for %d RTTs", inside, clockFixedNS/1e6, clockSampleNS*float64(n)/1e3, n)
	if disturbed(u.Flags) || max(inside, outside) < clockShortest {
		u.Note(ok, "outside-clock", u.path, expected, fmt.Sprintf("%.0f ns", outside))
		return
	}
	u.Check(ok, "outside-clock", u.path, expected, fmt.Sprintf("%.0f ns", outside))
}

// wire: what the namespace's own counters saw cannot be less than the payload that was echoed, once each way.
func (u *run) wire() {
	if u.Counters == nil {
		u.Check(false, "wire-bytes", u.path, "counters of the namespace", "none")
		return
	}
	least := 2 * u.Client.Result.Verified * int64(u.Profile.PayloadBytes)
	u.Check(u.Counters.BytesLo >= least, "wire-bytes", u.path, fmt.Sprintf("at least %d B on the link for %d echoes of %d B",
		least, u.Client.Result.Verified, u.Profile.PayloadBytes), fmt.Sprintf("%d B", u.Counters.BytesLo))
}

// linked: the kernel had the planned impairment, and it dropped what the binomial distribution allows.
func (u *run) linked() {
	want := u.Profile.Link
	if u.Link == nil {
		u.Check(false, "link-readback", u.path, "the link as the kernel reported it", "nothing")
		return
	}
	u.Check(u.Link.LossPPM == want.LossPPM && u.Link.DelayNS == want.DelayNS && u.Link.Backend == want.Backend && u.Link.More == want.More, "link-readback", u.path,
		fmt.Sprintf("%s, %d ppm, %v one way, further impairments %s", want.Backend, want.LossPPM, want.DelayNS, want.More),
		fmt.Sprintf("%s, %d ppm, %v, %s", u.Link.Backend, u.Link.LossPPM, u.Link.DelayNS, u.Link.More))
	if u.Counters == nil {
		return
	}
	for _, d := range u.Counters.Directions {
		v := link.BalanceLink(d, want)
		u.Check(v.OK, "loss-band", u.path+" "+d.Name, fmt.Sprintf("%s +- %s drops of %d packets", Format(v.Expected), Format(v.Band), d.Seen), fmt.Sprint(d.Dropped))
	}
	u.Check(!want.Lossy() || len(u.Counters.Directions) > 0, "loss-band", u.path, "a count of drops in each direction", "none")
}

// series: the stored quantiles are in order, lie between least and greatest, and agree with what the driver printed.
func (u *run) series() {
	for _, s := range u.Series {
		ok := s.MinNS <= s.MaxNS && len(s.Quantiles) == len(stats.FixedP())
		last := s.MinNS
		for _, q := range s.Quantiles {
			ok, last = ok && q >= last, q
		}
		u.Check(s.N == 0 || ok && last <= s.MaxNS && s.MeanNS >= float64(s.MinNS) && s.MeanNS <= float64(s.MaxNS), "series-order", u.path+" "+s.Kind,
			"min <= 201 ascending quantiles <= max, mean between", fmt.Sprintf("min %d, max %d, mean %s ns, %d quantiles", s.MinNS, s.MaxNS, Format(s.MeanNS), len(s.Quantiles)))
		said := map[string]*wire.Quantiles{"sparse": u.Client.Result.Sparse, "loaded": u.Client.Result.Loaded}[s.Kind]
		u.Check(s.N == 0 || said != nil && agrees(said, s), "series-driver", u.path+" "+s.Kind, "the driver's own n, p50, p95 and p99", describe(said, s))
	}
}

func agrees(said *wire.Quantiles, s artifacts.Series) bool {
	q := printed(s)
	return said.N == s.N && q == [3]int64{said.P50NS, said.P95NS, said.P99NS}
}

// printed are p50, p95 and p99 of a stored series; -1 where it does not hold them.
func printed(s artifacts.Series) (q [3]int64) {
	for i, p := range []float64{0.50, 0.95, 0.99} {
		v, err := stats.At(s.Quantiles, p)
		if err != nil {
			v = -1
		}
		q[i] = v
	}
	return q
}

func describe(said *wire.Quantiles, s artifacts.Series) string {
	if said == nil {
		return "the driver printed none"
	}
	return fmt.Sprintf("driver n %d %v, series n %d %v", said.N, [3]int64{said.P50NS, said.P95NS, said.P99NS}, s.N, printed(s))
}
