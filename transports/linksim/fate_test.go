package linksim

import (
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"
)

var (
	clientAddr = netip.MustParseAddrPort("10.0.0.2:10000")
	serverAddr = netip.MustParseAddrPort("10.0.0.1:19342")
)

// inBand fails unless hits of n trials fit a probability of ppm: five standard deviations, 6e-7 two-sided, and the seed is fixed.
func inBand(t *testing.T, what string, hits, n, ppm int) {
	t.Helper()
	p := float64(ppm) / million
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	if d := math.Abs(float64(hits) - mean); d > 5*sd {
		t.Errorf("%s: %d of %d, want %.0f ± %.0f", what, hits, n, mean, 5*sd)
	}
}

func TestRates(t *testing.T) {
	const n = 200_000
	for _, ppm := range []int{10_000, 50_000, 500_000} {
		p := Path{LossPPM: ppm, DuplicatePPM: ppm, ReorderPPM: ppm, ReorderBy: time.Second}
		d := newDice(7, clientAddr, serverAddr)
		var lost, doubled, held int
		var buf [2]time.Duration
		for i := range uint64(n) {
			switch delays := d.delays(&p, i, buf[:0]); {
			case len(delays) == 0:
				lost++
			case delays[0] > 0:
				held++
				fallthrough
			default:
				doubled += len(delays) - 1
			}
		}
		inBand(t, "lost", lost, n, ppm)
		inBand(t, "doubled", doubled, n-lost, ppm)
		inBand(t, "held back", held, n-lost, ppm)
	}
}

func TestRateOfZeroAndOne(t *testing.T) {
	d := newDice(7, clientAddr, serverAddr)
	for n := range uint64(10_000) {
		if got := d.delays(&Path{}, n, nil); !slices.Equal(got, []time.Duration{0}) {
			t.Fatalf("clean path: datagram %d has delays %v, want one of 0", n, got)
		}
		if got := d.delays(&Path{LossPPM: million}, n, nil); len(got) != 0 {
			t.Fatalf("dead path: datagram %d got through", n)
		}
	}
}

// fates is what a direction does to its first datagrams.
func fates(seed int64, from, to netip.AddrPort, p Path) [][]time.Duration {
	d := newDice(seed, from, to)
	var all [][]time.Duration
	for n := range uint64(1000) {
		all = append(all, d.delays(&p, n, nil))
	}
	return all
}

func TestFateDependsOnSeedDirectionAndNumberOnly(t *testing.T) {
	p := Path{LossPPM: 300_000, DuplicatePPM: 300_000, Jitter: time.Millisecond}
	same := func(a, b [][]time.Duration) bool {
		return slices.EqualFunc(a, b, func(x, y []time.Duration) bool { return slices.Equal(x, y) })
	}
	first := fates(1, clientAddr, serverAddr, p)
	if !same(first, fates(1, clientAddr, serverAddr, p)) {
		t.Error("the same seed and direction gave other fates")
	}
	if same(first, fates(2, clientAddr, serverAddr, p)) {
		t.Error("another seed gave the same fates")
	}
	if same(first, fates(1, serverAddr, clientAddr, p)) {
		t.Error("the opposite direction gave the same fates")
	}
}

func TestLossDoesNotMoveTheOtherDraws(t *testing.T) {
	p := Path{DuplicatePPM: 300_000, Jitter: time.Millisecond}
	clean := fates(1, clientAddr, serverAddr, p)
	p.LossPPM = 300_000
	for n, lossy := range fates(1, clientAddr, serverAddr, p) {
		if len(lossy) > 0 && !slices.Equal(lossy, clean[n]) {
			t.Fatalf("datagram %d: delays %v with loss, %v without", n, lossy, clean[n])
		}
	}
}

func TestJitterStaysInItsRange(t *testing.T) {
	p := Path{Delay: 5 * time.Millisecond, Jitter: 2 * time.Millisecond}
	low, high := time.Hour, time.Duration(0)
	for _, f := range fates(3, clientAddr, serverAddr, p) {
		low, high = min(low, f[0]), max(high, f[0])
	}
	if low < p.Delay || high > p.Delay+p.Jitter {
		t.Errorf("delays from %v to %v, want within 5ms to 7ms", low, high)
	}
	if high-low < p.Jitter*9/10 {
		t.Errorf("delays from %v to %v use little of the jitter", low, high)
	}
}
