package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPoolByHand(t *testing.T) {
	// Effects 0.1, 0.3, 0.5 with squared errors 0.01 each: Q = 8, tau^2 = (8 - 2) / (300 - 100) = 0.03, mean 0.3,
	// spread (0.04 + 0 + 0.04) / 0.04 = 2, weight 75: half = t(.975; 2) sqrt(2 / (2 * 75)).
	var all []Estimate
	for _, mean := range []float64{0.1, 0.3, 0.5} {
		all = append(all, Estimate{N: 4, Mean: mean, Var: 0.04, DF: 3})
	}
	p := Pool(all)
	half := TQuantile(0.975, 2) * math.Sqrt(1.0/75)
	if p.N != 3 || math.Abs(p.Mean-0.3) > 1e-12 || math.Abs(p.Tau2-0.03) > 1e-12 || math.Abs(p.Half-half) > 1e-12 {
		t.Errorf("%+v, want half width %v", p, half)
	}
}

func TestPoolOfFew(t *testing.T) {
	if p := Pool(nil); !math.IsNaN(p.Mean) || p.N != 0 {
		t.Errorf("of nothing: %+v", p)
	}
	if p := Pool([]Estimate{{N: 3, Mean: 2, Var: 1, DF: 2}}); p.Mean != 2 || !math.IsNaN(p.Half) {
		t.Errorf("of one: %+v", p)
	}
	if p := Pool([]Estimate{{N: 3, Mean: 1}, {N: 3, Mean: 1}}); p.Mean != 1 || p.Half != 0 || p.Tau2 != 0 {
		t.Errorf("without noise: %+v", p)
	}
}

// TestPoolCovers: the interval holds the mean of the true effects in about 95 % of draws, with few profiles and unequal noise.
func TestPoolCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 26))
	const draws, mean, tau = 4_000, 0.2, 0.1
	for _, profiles := range []int{4, 20} {
		covered := 0
		for range draws {
			all := make([]Estimate, profiles)
			for i := range all {
				sd := 0.02 + 0.1*r.Float64()
				all[i] = Estimate{N: 1, Var: sd * sd, Mean: mean + tau*r.NormFloat64() + sd*r.NormFloat64(), DF: 5}
			}
			if p := Pool(all); math.Abs(p.Mean-mean) <= p.Half {
				covered++
			}
		}
		if share := float64(covered) / draws; share < 0.93 || share > 0.97 {
			t.Errorf("%d profiles: covered %.3f", profiles, share)
		}
	}
}
