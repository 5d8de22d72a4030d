package stats

import (
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// EffectiveN returns how many independent values tell as much about the mean as this series in its order of completion:
// n / (1 + 2 sum rho), the sum cut by Geyer's initial positive sequence. It is n for a constant series and never above n.
// Source: C. J. Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992), section 3.3.
func EffectiveN[T Number](series []T) float64 {
	xs := make([]float64, len(series))
	mean := Mean(series)
	for i, x := range series {
		xs[i] = float64(x) - mean
	}
	return effective(xs)
}

// EffectiveNQuantile is EffectiveN for the nearest-rank quantile p: the autocorrelation is that of the indicator
// 1{x <= q}, because a quantile's error depends on it and not on the values.
// Source: Kalibera and Jones, ISMM 2013, on what is independent; Geyer (1992) for the sum.
func EffectiveNQuantile[T Number](series []T, p float64) float64 {
	sorted := slices.Clone(series)
	slices.Sort(sorted)
	q := Quantile(sorted, p)
	below := make([]float64, len(series))
	for i, x := range series {
		if x <= q {
			below[i] = 1
		}
	}
	return EffectiveN(below)
}

// effective works on a centred series.
func effective(xs []float64) float64 {
	n := float64(len(xs))
	cov := autocovariance(xs)
	if len(xs) < 4 || cov[0] <= 1e-12*n {
		return n
	}
	sum := -cov[0] // sum of both sides: -g0 + 2 (g0+g1) + 2 (g2+g3) + ...
	for lag := 0; lag+1 < len(cov); lag += 2 {
		pair := cov[lag] + cov[lag+1]
		if pair <= 0 {
			break
		}
		sum += 2 * pair
	}
	if sum <= cov[0] {
		return n
	}
	return n * cov[0] / sum
}

// autocovariance returns the sums of x[i] x[i+lag] for all lags, by a Fourier transform padded with zeros.
func autocovariance(xs []float64) []float64 {
	if len(xs) == 0 {
		return nil
	}
	size := 2
	for size < 2*len(xs) {
		size *= 2
	}
	padded := make([]float64, size)
	copy(padded, xs)
	fft := fourier.NewFFT(size)
	freq := fft.Coefficients(nil, padded)
	for i, c := range freq {
		freq[i] = complex(real(c)*real(c)+imag(c)*imag(c), 0)
	}
	cov := fft.Sequence(padded, freq)[:len(xs)]
	for i := range cov {
		cov[i] /= float64(size)
	}
	return cov
}
