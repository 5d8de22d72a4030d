package link

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"transportbench/pipeline/matrix"
)

// lossDistribution is the exact distribution of the losses among n packets that start in one state, by dynamic programming.
func lossDistribution(n int, b matrix.BurstLoss, startBad float64) []float64 {
	p, r := float64(b.GoodToBadPPM)/1e6, float64(b.BadToGoodPPM)/1e6
	eg, eb := float64(b.GoodLossPPM)/1e6, float64(b.BadLossPPM)/1e6
	good, bad := make([]float64, n+1), make([]float64, n+1)
	good[0], bad[0] = 1-startBad, startBad
	for range n {
		g, d := make([]float64, n+1), make([]float64, n+1)
		add := func(k int, weight float64, toGood float64) {
			if k <= n && weight > 0 {
				g[k], d[k] = g[k]+weight*toGood, d[k]+weight*(1-toGood)
			}
		}
		for k := range n + 1 {
			add(k, good[k]*(1-eg), 1-p)
			add(k+1, good[k]*eg, 1-p)
			add(k, bad[k]*(1-eb), r)
			add(k+1, bad[k]*eb, r)
		}
		good, bad = g, d
	}
	for k := range good {
		good[k] += bad[k]
	}
	return good
}

func models() []matrix.BurstLoss {
	return []matrix.BurstLoss{bursty(), {GoodToBadPPM: 100_000, BadToGoodPPM: 300_000, BadLossPPM: 1_000_000}, {GoodToBadPPM: 400_000, BadToGoodPPM: 600_000, BadLossPPM: 500_000, GoodLossPPM: 10_000}}
}

// TestBurstVariance compares with the exact distribution in the long run.
func TestBurstVariance(t *testing.T) {
	for _, b := range models() {
		for _, n := range []int{1, 2, 3, 50, 300} {
			var mean, square float64
			for k, w := range lossDistribution(n, b, b.InBad()) {
				mean, square = mean+float64(k)*w, square+float64(k*k)*w
			}
			if got, want := burstVariance(int64(n), b), square-mean*mean; math.Abs(got-want) > 1e-7*(1+want) {
				t.Errorf("%+v n=%d: variance %.9f, want %.9f", b, n, got, want)
			}
			if want := float64(n) * b.Mean(); math.Abs(mean-want) > 1e-9*(1+want) {
				t.Errorf("%+v n=%d: mean %.9f, want %.9f", b, n, mean, want)
			}
		}
	}
}

// TestBurstTailBounds compares with the exact tails from either start: never below, and in the far tail not far above.
func TestBurstTailBounds(t *testing.T) {
	const n = 300
	for _, b := range models() {
		upper, lower := make([]float64, n+1), make([]float64, n+1)
		for _, start := range []float64{0, 1} {
			w := lossDistribution(n, b, start)
			up, down := 0.0, 0.0
			for k := range n + 1 {
				down += w[k]
				lower[k] = max(lower[k], down)
				up += w[n-k]
				upper[n-k] = max(upper[n-k], up)
			}
		}
		for k := range int64(n + 1) {
			for _, side := range []struct {
				exact float64
				up    bool
			}{{upper[k], true}, {lower[k], false}} {
				got := burstTail(n, k, b, side.up)
				if got < side.exact*(1-1e-6)-1e-15 {
					t.Errorf("%+v k=%d upper %v: bound %g is below the chance %g", b, k, side.up, got, side.exact)
				}
				if side.exact > 1e-9 && side.exact < 1e-4 && got > 60*side.exact {
					t.Errorf("%+v k=%d upper %v: bound %g says little about %g", b, k, side.up, got, side.exact)
				}
			}
		}
	}
}

// TestPartsOfChainsVaryLess compares E[exp(t S)] of one chain with that of every second packet of a longer one, and of many
// short chains that start in the long run's proportion.
func TestPartsOfChainsVaryLess(t *testing.T) {
	const n = 240
	for _, b := range models() {
		faster := 2 - float64(b.GoodToBadPPM+b.BadToGoodPPM)/1e6 // the chain of every second packet
		second := b
		second.GoodToBadPPM, second.BadToGoodPPM = int(float64(b.GoodToBadPPM)*faster), int(float64(b.BadToGoodPPM)*faster)
		short := lossDistribution(n/20, b, b.InBad())
		for _, tilt := range []float64{-20, -2, -0.5, -0.1, 0.1, 0.5, 1, 2} {
			whole := logMGF(n, tilt, b)
			if got := logMGF(n, tilt, second); got > whole+1e-4 {
				t.Errorf("%+v tilt %g: every second packet %g, one chain %g", b, tilt, got, whole)
			}
			sum := 0.0
			for k, w := range short {
				sum += w * math.Exp(tilt*float64(k))
			}
			if got := 20 * math.Log(sum); got > whole+1e-9 {
				t.Errorf("%+v tilt %g: 20 short chains %g, one chain %g", b, tilt, got, whole)
			}
		}
	}
}

// TestBurstsAreJudged draws honest runs through every backend's way to share a chain, and dishonest ones.
func TestBurstsAreJudged(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	b := bursty()
	flagged := 0
	for range 300 {
		whole, half := Direction{Name: "all"}, Direction{Name: "every second packet"}
		state := false
		for i := range 20_000 {
			loss, turn := b.GoodLossPPM, b.GoodToBadPPM
			if state {
				loss, turn = b.BadLossPPM, b.BadToGoodPPM
			}
			lost := rng.IntN(1e6) < loss
			if rng.IntN(1e6) < turn {
				state = !state
			}
			for _, d := range []*Direction{&whole, &half} {
				if d == &whole || i%2 == 0 {
					d.Seen++
					d.Dropped += int64(indicator(lost))
				}
			}
		}
		for _, d := range []Direction{whole, half} {
			v := BalanceLink(d, matrix.LinkSpec{More: matrix.Impairment{Burst: b}})
			if !v.OK {
				t.Errorf("an honest run failed: %s", v.Reason)
			}
			flagged += len(v.Flags)
		}
	}
	if flagged > 4 {
		t.Errorf("%d of 600 honest directions flagged, want at most about 1 in 1,000", flagged)
	}
	for _, dropped := range []int64{0, 6_000} { // mean 3,942 of 100,000, 4.89 deviations are 703
		if v := BalanceLink(Direction{Name: "x", Seen: 100_000, Dropped: dropped}, matrix.LinkSpec{More: matrix.Impairment{Burst: b}}); v.OK {
			t.Errorf("%d of 100,000 passed: %+v", dropped, v)
		}
	}
}

func TestBalanceLink(t *testing.T) {
	rate := matrix.Impairment{RateBitPerS: 8_000_000}
	cases := []struct {
		name  string
		d     Direction
		spec  matrix.LinkSpec
		ok    bool
		flags []string
	}{
		{"plain loss as before", Direction{Seen: 1_000_000, Dropped: 10_487}, matrix.LinkSpec{LossPPM: 10_000}, false, nil},
		{"bursts vary more", Direction{Seen: 100_000, Dropped: 4_300}, matrix.LinkSpec{More: matrix.Impairment{Burst: bursty()}}, true, nil},
		{"independent losses vary less", Direction{Seen: 100_000, Dropped: 4_300}, matrix.LinkSpec{LossPPM: 39_423}, false, nil},
		{"overflow of a rate is told apart", Direction{Seen: 1_000, Overflow: 70}, matrix.LinkSpec{More: rate}, true, []string{FlagQueueOverflow}},
		{"netem hides overflow among losses", Direction{Seen: 100_000, Dropped: 3_000}, matrix.LinkSpec{LossPPM: 10_000, More: rate, Backend: BackendNetem}, true, []string{FlagQueueOverflow}},
		{"but not a loss that is missing", Direction{Seen: 100_000}, matrix.LinkSpec{LossPPM: 10_000, More: rate, Backend: BackendNetem}, false, nil},
		{"nfqueue hides nothing", Direction{Seen: 100_000, Dropped: 3_000}, matrix.LinkSpec{LossPPM: 10_000, More: rate, Backend: BackendNFQueue}, false, nil},
		{"copies", Direction{Seen: 100_000, Duplicated: 5_000}, matrix.LinkSpec{More: matrix.Impairment{DuplicatePPM: 50_000}}, true, nil},
		{"no copies", Direction{Seen: 100_000}, matrix.LinkSpec{More: matrix.Impairment{DuplicatePPM: 50_000}}, false, nil},
		{"copies of what was not lost", Direction{Seen: 100_000, Dropped: 9_500, Duplicated: 45_000}, matrix.LinkSpec{LossPPM: 100_000, More: matrix.Impairment{DuplicatePPM: 500_000}}, true, nil},
	}
	for _, c := range cases {
		if v := BalanceLink(c.d, c.spec); v.OK != c.ok || !slices.Equal(v.Flags, c.flags) || v.OK == (v.Reason != "") {
			t.Errorf("%s: %+v, want ok %v flags %v", c.name, v, c.ok, c.flags)
		}
	}
}
