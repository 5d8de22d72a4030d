package report

import (
	"testing"
	"time"

	"transportbench/pipeline/matrix"
)

func TestNetworkNamesEveryImpairment(t *testing.T) {
	for _, c := range []struct {
		link matrix.LinkSpec
		want string
	}{
		{matrix.LinkSpec{}, "No injected loss"},
		{matrix.LinkSpec{LossPPM: 10_000, DelayNS: 5 * time.Millisecond}, "10 ms RTT + 1% loss"},
		{matrix.LinkSpec{DelayNS: 5 * time.Millisecond, More: matrix.Impairment{JitterNS: 1500 * time.Microsecond, ReorderPPM: 20_000, DuplicatePPM: 5_000}}, "10 ms RTT + 0% loss, jitter 1.5ms, 2% reordered, 0.5% duplicated"},
		{
			matrix.LinkSpec{More: matrix.Impairment{Burst: matrix.BurstLoss{GoodToBadPPM: 10_000, BadToGoodPPM: 240_000, BadLossPPM: 1_000_000}}},
			"4% burst loss, bursts begin 1% and end 24%, loss 100% in and 0% between them",
		},
		{matrix.LinkSpec{More: matrix.Impairment{RateBitPerS: 20_000_000, Steps: matrix.RateSteps{{AfterNS: 2 * time.Second, RateBitPerS: 5_000_000}}}}, "No injected loss, 20,000 kbit/s, 5,000 kbit/s after 2s"},
	} {
		if got := network(matrix.Profile{Link: c.link}); got != c.want {
			t.Errorf("network of %+v is %q, want %q", c.link, got, c.want)
		}
	}
}
