package stats

import "math"

// Pooled is the mean of effects that are not assumed to be one effect, such as a column's over profiles.
type Pooled struct {
	N    int     // effects
	Mean float64 // of logarithms; NaN without effects
	Half float64 // of the 95 % interval; NaN below two effects
	Tau2 float64 // variance between the true effects; NaN below two
}

// leastError2 stands for the squared error of effects without noise, which would have all the weight.
const leastError2 = 1e-12

// Pool weighs every effect by its own variance and the variance between effects.
// Source: R. DerSimonian and N. Laird, Controlled Clinical Trials 7 (1986); interval by J. Hartung and G. Knapp, Statistics in
// Medicine 20 (2001), which keeps its level with few effects.
func Pool(effects []Estimate) Pooled {
	p := Pooled{N: len(effects), Mean: math.NaN(), Half: math.NaN(), Tau2: math.NaN()}
	switch len(effects) {
	case 0:
		return p
	case 1:
		p.Mean = effects[0].Mean
		return p
	}
	fixed, weight, squares := weighted(effects, 0)
	q := 0.0
	for _, e := range effects {
		q += (e.Mean - fixed) * (e.Mean - fixed) / error2(e)
	}
	k := float64(len(effects))
	p.Tau2 = max(0, (q-(k-1))/(weight-squares/weight))
	p.Mean, weight, _ = weighted(effects, p.Tau2)
	spread := 0.0
	for _, e := range effects {
		spread += (e.Mean - p.Mean) * (e.Mean - p.Mean) / (error2(e) + p.Tau2)
	}
	p.Half = TQuantile(1-Level/2, k-1) * math.Sqrt(spread/((k-1)*weight))
	return p
}

func error2(e Estimate) float64 { return max(leastError2, e.Error()*e.Error()) }

// weighted returns the mean by inverse variance, the sum of the weights and that of their squares.
func weighted(effects []Estimate, tau2 float64) (mean, weight, squares float64) {
	for _, e := range effects {
		w := 1 / (error2(e) + tau2)
		mean += w * e.Mean
		weight += w
		squares += w * w
	}
	return mean / weight, weight, squares
}
