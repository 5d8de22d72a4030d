package link

import (
	"fmt"
	"math"

	"transportbench/pipeline/matrix"
)

// burstTail bounds the chance that a chain of bursts loses k or more (upper) or k or fewer of n packets. It is Chernoff's
// bound, the least of E[exp(t S)] exp(-t k) over t, where the expectation of the n-th power of a 2x2 matrix is exact: so it
// holds for every n, it is never too small, and a verdict built on it raises no more false alarms than it says. H. Chernoff,
// Annals of Mathematical Statistics 23 (1952), 493-507; the tilted matrix is that of A. Dembo and O. Zeitouni, "Large
// Deviations Techniques and Applications" (1998), section 3.1.
//
// The start may be either state. A chain that stays in its state more often than not is associated (J. Esary, F. Proschan,
// D. Walkup, the same journal 38 (1967), 1466-1474), so several short ones vary less than one chain of as many packets; and one
// of which only some packets are counted remembers less from one to the next, which lowers E[exp(t S)] too. So the bound
// holds for a direction of netem, whose chain runs through both, and for the many connections of nfqueue; a test compares
// both with one chain. The matrix package refuses other chains.
func burstTail(n, k int64, b matrix.BurstLoss, upper bool) float64 {
	sign := 1.0
	if !upper {
		sign = -1
	}
	exponent := func(t float64) float64 { return logMGF(n, sign*t, b) - sign*t*float64(k) }
	return math.Exp(min(0, least(exponent, maxTilt)))
}

// maxTilt is a tilt at which the rarer outcome weighs as if certain: exp(40) is 10^17.
const maxTilt = 40

// least is the minimum of a convex function on [0, hi], by golden section.
func least(f func(float64) float64, hi float64) float64 {
	const golden = 0.6180339887498949
	lo := 0.0
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > 1e-9 {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		}
	}
	return min(fa, fb)
}

// two is a 2x2 matrix by rows: good, bad.
type two [4]float64

func (m two) times(o two) two {
	return two{m[0]*o[0] + m[1]*o[2], m[0]*o[1] + m[1]*o[3], m[2]*o[0] + m[3]*o[2], m[2]*o[1] + m[3]*o[3]}
}

// scaled divides by the greatest entry and returns its logarithm.
func (m two) scaled() (two, float64) {
	top := max(m[0], m[1], m[2], m[3])
	return two{m[0] / top, m[1] / top, m[2] / top, m[3] / top}, math.Log(top)
}

// logMGF is ln E[exp(t S)] of the losses S among n packets, from the worse start.
func logMGF(n int64, t float64, b matrix.BurstLoss) float64 {
	p, r := float64(b.GoodToBadPPM)/wholePPM, float64(b.BadToGoodPPM)/wholePPM
	tilt := func(ppm int) float64 { return 1 + float64(ppm)/wholePPM*math.Expm1(t) }
	good, bad := tilt(b.GoodLossPPM), tilt(b.BadLossPPM)
	step, stepLog := two{good * (1 - p), good * p, bad * r, bad * (1 - r)}.scaled()
	power, log := two{1, 0, 0, 1}, 0.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			var l float64
			power, l = power.times(step).scaled()
			log += stepLog + l
		}
		var l float64
		step, l = step.times(step).scaled()
		stepLog = 2*stepLog + l
	}
	return log + math.Log(max(power[0]+power[1], power[2]+power[3]))
}

// burstVariance is the variance of the losses among n packets of a chain in its long run: n m (1-m) and twice the sum of the
// covariances, which fall with the power of how much the chain remembers. G. Hasslinger, O. Hohlfeld, "The Gilbert-Elliott
// model for packet loss in real time services on the Internet", MMB 2008, treats the same second moments.
func burstVariance(n int64, b matrix.BurstLoss) float64 {
	mean, bad, count := b.Mean(), b.InBad(), float64(n)
	remembers := 1 - float64(b.GoodToBadPPM+b.BadToGoodPPM)/wholePPM
	apart := float64(b.BadLossPPM-b.GoodLossPPM) / wholePPM
	forgets := 1 - remembers
	pairs := remembers * (count*forgets - (1 - math.Pow(remembers, count))) / (forgets * forgets)
	return count*mean*(1-mean) + 2*apart*apart*bad*(1-bad)*max(pairs, 0)
}

// balanceBurst judges drops that come in bursts.
func balanceBurst(d Direction, b matrix.BurstLoss) Verdict {
	v := Verdict{OK: true, Expected: float64(d.Seen) * b.Mean(), Band: wrongZ * math.Sqrt(burstVariance(d.Seen, b))}
	if d.Overflow > 0 {
		v.Flags = append(v.Flags, FlagQueueOverflow)
	}
	if v.contradicts(d) {
		return v
	}
	chance := min(1, 2*min(burstTail(d.Seen, d.Dropped, b, true), burstTail(d.Seen, d.Dropped, b, false)))
	v.judge(d, chance < wrongChance, chance < unusualChance)
	return v
}

// BalanceLink holds the counts of one direction against all that the spec asks for: loss, bursts, duplicates, and a queue
// that may overflow where the rate is limited.
func BalanceLink(d Direction, spec matrix.LinkSpec) Verdict {
	m := spec.More
	var v Verdict
	switch loss := float64(spec.LossPPM) / wholePPM; {
	case m.Burst.On():
		v = balanceBurst(d, m.Burst)
	case m.DuplicatePPM > 0:
		// netem tells a packet lost only when no copy of it is left, and each packet has one copy at most.
		v = balance(d, loss*(1-loss*float64(m.DuplicatePPM)/wholePPM))
		v.copies(d, float64(m.DuplicatePPM)/wholePPM*(1-loss))
	default:
		v = Balance(d, spec.LossPPM)
	}
	if !v.OK && m.RateBitPerS > 0 && spec.Backend == BackendNetem && d.Dropped <= d.Seen && float64(d.Dropped) > v.Expected {
		// netem counts what its full queue drops among the losses: with a rate only too few of them prove anything.
		return Verdict{OK: true, Expected: v.Expected, Band: v.Band, Flags: []string{FlagQueueOverflow}}
	}
	return v
}

// copies judges the duplicates: a copy is seen where the packet was doubled and not lost besides.
func (v *Verdict) copies(d Direction, share float64) {
	if !v.OK {
		return
	}
	if d.Duplicated < 0 || d.Duplicated > d.Seen || binomialChance(d.Seen, d.Duplicated, share) < wrongChance {
		v.OK = false
		v.Reason = fmt.Sprintf("%s duplicated %d of %d packets, want about %.0f", d.Name, d.Duplicated, d.Seen, float64(d.Seen)*share)
	}
}
