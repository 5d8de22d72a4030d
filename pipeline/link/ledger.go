package link

import (
	"fmt"
	"math"
)

// Flags of a Verdict.
const (
	FlagLossUnusual   = "loss-unusual"   // a chance between 1 in 1,000 and 1 in 1,000,000
	FlagQueueOverflow = "queue-overflow" // the queue dropped packets that nobody chose
)

// Two-sided chances at which the injected loss of a run is unusual, or wrong.
const (
	unusualChance = 1e-3
	wrongChance   = 1e-6
)

// Normal quantiles of those chances, two-sided.
const (
	unusualZ = 3.2905
	wrongZ   = 4.89
)

// exactBelow is the variance under which the binomial is too skewed for its normal approximation and is summed instead.
const exactBelow = 1000

// Verdict is the answer of the ledger for one direction.
type Verdict struct {
	OK       bool     `json:"ok"`
	Flags    []string `json:"flags,omitempty"`
	Expected float64  `json:"expected"` // injected drops, Np
	Band     float64  `json:"band"`     // 4.89 sqrt(Np(1-p))
	Reason   string   `json:"reason,omitempty"`
}

// Balance holds the injected drops of one direction against the binomial distribution with the planned loss, in parts per
// million. Queue overflow is flagged and never counted as injected.
func Balance(d Direction, lossPPM int) Verdict { return balance(d, float64(lossPPM)/wholePPM) }

func balance(d Direction, p float64) Verdict {
	n := float64(d.Seen)
	v := Verdict{OK: true, Expected: n * p, Band: wrongZ * math.Sqrt(n*p*(1-p))}
	if d.Overflow > 0 {
		v.Flags = append(v.Flags, FlagQueueOverflow)
	}
	switch {
	case v.contradicts(d):
	case p == 0 && d.Dropped > 0:
		v.OK, v.Reason = false, fmt.Sprintf("%s dropped %d packets at 0 %% loss", d.Name, d.Dropped)
	case p > 0:
		wrong, unusual := rarity(d, p)
		v.judge(d, wrong, unusual)
	}
	return v
}

// contradicts refuses counters that cannot be true.
func (v *Verdict) contradicts(d Direction) bool {
	if d.Seen < 0 || d.Dropped < 0 || d.Dropped > d.Seen {
		v.OK, v.Reason = false, fmt.Sprintf("%s dropped %d of %d packets: the counters contradict each other", d.Name, d.Dropped, d.Seen)
	}
	return !v.OK
}

func (v *Verdict) judge(d Direction, wrong, unusual bool) {
	if wrong {
		v.OK = false
		v.Reason = fmt.Sprintf("%s dropped %d of %d packets, want %.0f +- %.0f", d.Name, d.Dropped, d.Seen, v.Expected, v.Band)
	} else if unusual {
		v.Flags = append(v.Flags, FlagLossUnusual)
	}
}

// rarity places the drops outside the chance of 1e-6 and of 1e-3.
func rarity(d Direction, p float64) (wrong, unusual bool) {
	mean := float64(d.Seen) * p
	variance := mean * (1 - p)
	if variance >= exactBelow {
		off := math.Abs(float64(d.Dropped) - mean)
		return off > wrongZ*math.Sqrt(variance), off > unusualZ*math.Sqrt(variance)
	}
	chance := binomialChance(d.Seen, d.Dropped, p)
	return chance < wrongChance, chance < unusualChance
}

// binomialChance is the two-sided tail of Binomial(n, p) at k: twice the smaller of P(X <= k) and P(X >= k), at most 1.
func binomialChance(n, k int64, p float64) float64 {
	return min(1, 2*min(lowerTail(n, k, p), lowerTail(n, n-k, 1-p)))
}

// lowerTail sums P(X = k) + P(X = k-1) + ... by the ratio of neighbours, until a term no longer counts.
func lowerTail(n, k int64, p float64) float64 {
	term := math.Exp(logPMF(n, k, p))
	sum := term
	for i := k; i > 0; i-- {
		term *= float64(i) / float64(n-i+1) * (1 - p) / p
		sum += term
		if rising := float64(i) > float64(n)*p; !rising && term < sum*1e-12 {
			break
		}
	}
	return sum
}

func logPMF(n, k int64, p float64) float64 {
	return lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p)
}

func lgamma(x int64) float64 {
	v, _ := math.Lgamma(float64(x))
	return v
}
