package stats

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// StudentizedRange is the distribution of the range of k independent normal values over an independent estimate of their
// standard deviation. Simultaneous intervals of all pairs of k columns rest on it.
// Source: J. W. Tukey, "The problem of multiple comparisons" (1953); integrals after H. L. Harter, Annals of
// Mathematical Statistics 31 (1960).
type StudentizedRange struct {
	k     int
	w, dw []float64 // distribution and density of the range of k normals, at multiples of rangeStep
}

const (
	rangeStep  = 0.02
	rangeEnd   = 14.0 // P(range of 100 normals > 14) < 1e-18
	innerNodes = 48
	outerNodes = 96
)

// NewStudentizedRange prepares the distribution for k >= 2 columns.
func NewStudentizedRange(k int) *StudentizedRange {
	n := int(rangeEnd/rangeStep) + 1
	r := &StudentizedRange{k: k, w: make([]float64, n), dw: make([]float64, n)}
	z, weight := make([]float64, innerNodes), make([]float64, innerNodes)
	quad.Legendre{}.FixedLocations(z, weight, -8.5, 8.5)
	for i := range z {
		weight[i] *= distuv.UnitNormal.Prob(z[i])
	}
	for g := range r.w {
		r.w[g], r.dw[g] = rangeAt(float64(g)*rangeStep, k, z, weight)
	}
	return r
}

// rangeAt integrates over the greatest of k normals: k phi(z) (Phi(z) - Phi(z-w))^(k-1), and its derivative by w.
func rangeAt(w float64, k int, z, weight []float64) (p, density float64) {
	n := distuv.UnitNormal
	for i, x := range z {
		between := n.CDF(x) - n.CDF(x-w)
		below := math.Pow(between, float64(k-2))
		p += float64(k) * weight[i] * below * between
		density += float64(k*(k-1)) * weight[i] * below * n.Prob(x-w)
	}
	return min(p, 1), density
}

// rangeCDF reads the grid by cubic Hermite interpolation; its error is below 1e-7.
func (r *StudentizedRange) rangeCDF(w float64) float64 {
	g := int(w / rangeStep)
	if g >= len(r.w)-1 {
		return 1
	}
	t := w/rangeStep - float64(g)
	a, b, da, db := r.w[g], r.w[g+1], r.dw[g]*rangeStep, r.dw[g+1]*rangeStep
	c, d := 3*(b-a)-2*da-db, 2*(a-b)+da+db
	return a + t*(da+t*(c+t*d))
}

// scale is the density of the estimated over the true standard deviation at quadrature nodes.
type scale struct{ s, weight []float64 }

func newScale(df float64) scale {
	if df > 1e5 {
		return scale{[]float64{1}, []float64{1}}
	}
	chi := distuv.ChiSquared{K: df}
	v := scale{make([]float64, outerNodes), make([]float64, outerNodes)}
	quad.Legendre{}.FixedLocations(v.s, v.weight, math.Sqrt(chi.Quantile(1e-12)/df), math.Sqrt(chi.Quantile(1-1e-12)/df))
	for i, s := range v.s {
		v.weight[i] *= 2 * df * s * chi.Prob(df*s*s)
	}
	return v
}

func (r *StudentizedRange) cdf(q float64, v scale) float64 {
	p := 0.0
	for i, s := range v.s {
		p += v.weight[i] * r.rangeCDF(q*s)
	}
	return min(p, 1)
}

// CDF is P(range / s <= q) with df degrees of freedom in s, which need not be whole; +Inf is allowed.
func (r *StudentizedRange) CDF(q, df float64) float64 { return r.cdf(max(q, 0), newScale(df)) }

// Quantile inverts CDF by bisection, to 1e-9 of its value.
func (r *StudentizedRange) Quantile(p, df float64) float64 {
	v := newScale(df)
	low, high := 0.0, 1.0
	for r.cdf(high, v) < p && high < 1e6 {
		low, high = high, 2*high
	}
	for high-low > 1e-9*high {
		if mid := (low + high) / 2; r.cdf(mid, v) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}
