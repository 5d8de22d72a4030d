package link

import (
	"crypto/sha256"
	"math"
	"testing"
	"time"

	"transportbench/pipeline/matrix"
)

// TestSeedsKeepTheirMeaning holds the decisions against losses that a link made before there were other impairments: an old
// artifact must be repeatable.
func TestSeedsKeepTheirMeaning(t *testing.T) {
	seed := sha256.Sum256([]byte("transportbench-calibration"))
	for _, c := range []struct{ ppm, direction, packets, lost int }{
		{10_000, toServer, 5000, 50}, {10_000, toClient, 4950, 38}, {50_000, toServer, 5000, 243}, {50_000, toClient, 4757, 245},
	} {
		lost := 0
		for _, l := range schedule(losing(seed, c.ppm), c.direction, 20000, c.packets) {
			if l {
				lost++
			}
		}
		if lost != c.lost {
			t.Errorf("%d ppm, direction %d: %d of %d lost, want %d", c.ppm, c.direction, lost, c.packets, c.lost)
		}
	}
}

// bursty is 4 % of losses in bursts of four.
func bursty() matrix.BurstLoss {
	return matrix.BurstLoss{GoodToBadPPM: 10_000, BadToGoodPPM: 250_000, BadLossPPM: 900_000, GoodLossPPM: 5_000}
}

// TestBurstsFollowTheModel compares share and correlation of the losses with those of the chain: the covariance of two losses
// k packets apart is (apart)^2 bad (1-bad) remembers^k.
func TestBurstsFollowTheModel(t *testing.T) {
	const n = 400_000
	b := bursty()
	s := schedule(newFates(plan{seed: testSeed(), more: matrix.Impairment{Burst: b}}), toServer, 20000, n)
	mean := b.Mean()
	for _, lag := range []int{1, 2, 5, 20} {
		var sum, product float64
		for i := lag; i < n; i++ {
			x, y := indicator(s[i]), indicator(s[i-lag])
			sum, product = sum+x, product+(x-mean)*(y-mean)
		}
		want := 0.895 * 0.895 * b.InBad() * (1 - b.InBad()) * math.Pow(0.74, float64(lag))
		if got := product / float64(n-lag); math.Abs(got-want) > 0.0012 {
			t.Errorf("covariance at lag %d is %.5f, want %.5f", lag, got, want)
		}
		if got := sum / float64(n-lag); math.Abs(got-mean) > 0.0025 {
			t.Errorf("share lost %.5f, want %.5f", got, mean)
		}
	}
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestShortConnectionsLoseAsMuch draws the first packets of many connections: the chain must begin in its long run.
func TestShortConnectionsLoseAsMuch(t *testing.T) {
	f := newFates(plan{seed: testSeed(), more: matrix.Impairment{Burst: bursty()}})
	d := Direction{Name: "all"}
	for connection := range uint16(20_000) {
		for range 5 {
			d.Seen++
			if f.drop(toServer, connection) {
				d.Dropped++
			}
		}
	}
	if v := balanceBurst(d, bursty()); !v.OK || len(v.Flags) > 0 {
		t.Errorf("%+v: %+v", d, v)
	}
}

func TestFatesReplay(t *testing.T) {
	more := matrix.Impairment{Burst: bursty(), JitterNS: 3 * time.Millisecond, ReorderPPM: 20_000}
	f := func() *fates { return newFates(plan{seed: testSeed(), delay: 5 * time.Millisecond, more: more}) }
	first, second := f(), f()
	for i := range int64(20_000) {
		due, lost := first.judge(toServer, 20000, 100, i)
		second.judge(toServer, 20001, 100, i) // other traffic in between must not matter
		if d, l := second.judge(toServer, 20000, 100, i); d != due || l != lost {
			t.Fatalf("packet %d: due %d lost %v, then %d %v", i, due, lost, d, l)
		}
	}
}

func TestJitterIsUniform(t *testing.T) {
	const delay, jitter, n = 5 * time.Millisecond, 2 * time.Millisecond, 100_000
	f := newFates(plan{seed: testSeed(), delay: delay, more: matrix.Impairment{JitterNS: jitter}})
	var quarters [4]int
	for range n {
		due, _ := f.judge(toClient, 20000, 100, 0)
		off := time.Duration(due) - (delay - jitter)
		if off < 0 || off >= 2*jitter {
			t.Fatalf("held for %s, want %s +- %s", time.Duration(due), delay, jitter)
		}
		quarters[4*off/(2*jitter)]++
	}
	for i, k := range quarters {
		if v := Balance(Direction{Name: "quarter", Seen: n, Dropped: int64(k)}, 250_000); !v.OK {
			t.Errorf("quarter %d: %s", i, v.Reason)
		}
	}
}

func TestReorderedLeaveAtOnce(t *testing.T) {
	const n = 100_000
	f := newFates(plan{seed: testSeed(), delay: 5 * time.Millisecond, more: matrix.Impairment{ReorderPPM: 20_000}})
	d := Direction{Name: "overtaking"}
	for i := range int64(n) {
		due, _ := f.judge(toServer, 20000, 100, i)
		d.Seen++
		switch time.Duration(due - i) {
		case 0:
			d.Dropped++
		case 5 * time.Millisecond:
		default:
			t.Fatalf("packet %d held for %s", i, time.Duration(due-i))
		}
	}
	if v := Balance(d, 20_000); !v.OK {
		t.Error(v.Reason)
	}
}

// TestRateSharesTheLink sends faster than the rate in both directions: packets leave one after the other, each taking its
// time, and the delay comes on top once.
func TestRateSharesTheLink(t *testing.T) {
	more := matrix.Impairment{RateBitPerS: 8_000_000, Steps: matrix.RateSteps{{AfterNS: time.Second, RateBitPerS: 4_000_000}}}
	f := newFates(plan{seed: testSeed(), delay: 5 * time.Millisecond, more: more})
	const bytes = 986 // 1,000 with the link header: 1 ms at the first rate, 2 ms at the second
	for i := range 10 {
		due, _ := f.judge(i%2, 20000, bytes, 0)
		if want := 5*time.Millisecond + time.Duration(i+1)*time.Millisecond; time.Duration(due) != want {
			t.Errorf("packet %d leaves after %s, want %s", i, time.Duration(due), want)
		}
	}
	if due, _ := f.judge(toServer, 20000, bytes, int64(time.Second)); time.Duration(due) != time.Second+7*time.Millisecond {
		t.Errorf("an idle link lets a packet go after %s, want 1.007 s", time.Duration(due))
	}
}

func TestOrderly(t *testing.T) {
	for _, more := range []matrix.Impairment{{}, {RateBitPerS: 8_000_000}, {RateBitPerS: 8_000_000, JitterNS: 4 * time.Millisecond}, {Burst: bursty()}} {
		if !orderly(more) {
			t.Errorf("%s counts as out of order", more)
		}
		f := newFates(plan{seed: testSeed(), delay: 5 * time.Millisecond, more: more})
		last := int64(0)
		for i := range int64(10_000) {
			due, lost := f.judge(toServer, 20000, 100, i*1000)
			if !lost && due < last {
				t.Fatalf("%s: packet %d leaves at %d, before %d", more, i, due, last)
			}
			last = max(last, due)
		}
	}
	if orderly(matrix.Impairment{JitterNS: 1}) || orderly(matrix.Impairment{ReorderPPM: 1}) {
		t.Error("jitter or reordering count as orderly")
	}
}
