package stats

// Dip returns Hartigan's dip statistic of ascending values: the greatest distance between their empirical distribution
// and the nearest unimodal one, between 1/(2n) and 1/4; 0 for fewer than two values or a constant sample.
// Source: J. A. Hartigan and P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985), and
// algorithm AS 217 (Applied Statistics 34, 1985).
func Dip[T Number](sorted []T) float64 {
	n := len(sorted)
	if n < 2 || sorted[0] == sorted[n-1] {
		return 0
	}
	d := dipper{x: make([]float64, n), dip: 1}
	for i, v := range sorted {
		d.x[i] = float64(v)
	}
	d.mn = hullIndex(n, func(j, mid, k int) bool { return d.slopeAbove(j, mid, k) })
	d.mj = d.majorant()
	return d.run() / float64(2*n)
}

// dipper carries the state of AS 217. Distances are in units of 1/(2n).
type dipper struct {
	x      []float64
	mn, mj []int // next vertex of the greatest convex minorant below, of the least concave majorant above
	dip    float64
}

func (d *dipper) slopeAbove(j, mid, k int) bool {
	return (d.x[j]-d.x[mid])*float64(mid-k) < (d.x[mid]-d.x[k])*float64(j-mid)
}

// hullIndex builds the vertex links of the convex minorant from the left.
func hullIndex(n int, above func(j, mid, k int) bool) []int {
	mn := make([]int, n)
	for j := 1; j < n; j++ {
		mn[j] = j - 1
		for mn[j] != 0 {
			mid := mn[j]
			if above(j, mid, mn[mid]) {
				break
			}
			mn[j] = mn[mid]
		}
	}
	return mn
}

// majorant builds the vertex links of the concave majorant from the right.
func (d *dipper) majorant() []int {
	n := len(d.x)
	mj := make([]int, n)
	mj[n-1] = n - 1
	for k := n - 2; k >= 0; k-- {
		mj[k] = k + 1
		for mj[k] != n-1 {
			mid, next := mj[k], mj[mj[k]]
			if (d.x[k]-d.x[mid])*float64(mid-next) < (d.x[mid]-d.x[next])*float64(k-mid) {
				break
			}
			mj[k] = next
		}
	}
	return mj
}

// run narrows the modal interval until it stops changing.
func (d *dipper) run() float64 {
	low, high := 0, len(d.x)-1
	for {
		gcm, lcm := d.vertices(low, high)
		dist, ig, ih := d.widest(gcm, lcm)
		if dist < d.dip {
			return d.dip
		}
		d.dip = max(d.dip, d.left(gcm, ig), d.right(lcm, ih))
		newLow, newHigh := gcm[ig], lcm[ih]
		if newLow == low && newHigh == high {
			return d.dip
		}
		low, high = newLow, newHigh
	}
}

// vertices returns the minorant's change points from high down to low and the majorant's from low up to high.
func (d *dipper) vertices(low, high int) (gcm, lcm []int) {
	gcm = append(gcm, high)
	for i := high; i > low; i = d.mn[i] {
		gcm = append(gcm, d.mn[i])
	}
	lcm = append(lcm, low)
	for i := low; i < high; i = d.mj[i] {
		lcm = append(lcm, d.mj[i])
	}
	return gcm, lcm
}

// widest returns the greatest vertical distance between the two curves and the vertices where it occurs.
func (d *dipper) widest(gcm, lcm []int) (dist float64, ig, ih int) {
	last := len(gcm) - 1
	if last == 1 && len(lcm) == 2 {
		return 1, last, len(lcm) - 1
	}
	ix, iv := last-1, 1
	ig, ih = last, len(lcm)-1
	for {
		g, l := gcm[ix], lcm[iv]
		if g > l { // next vertex is on the majorant
			base := gcm[ix+1]
			dx := float64(l-base+1) - (d.x[l]-d.x[base])*float64(g-base)/(d.x[g]-d.x[base])
			if dx >= dist {
				dist, ig, ih = dx, ix+1, iv
			}
			iv++
		} else {
			base := lcm[iv-1]
			dx := (d.x[g]-d.x[base])*float64(l-base)/(d.x[l]-d.x[base]) - float64(g-base-1)
			if dx >= dist {
				dist, ig, ih = dx, ix, iv
			}
			ix--
		}
		ix, iv = max(ix, 0), min(iv, len(lcm)-1)
		if gcm[ix] == lcm[iv] {
			return dist, ig, ih
		}
	}
}

// left returns the greatest distance of the data above the minorant outside the new modal interval.
func (d *dipper) left(gcm []int, ig int) float64 {
	worst := 0.0
	for j := ig; j < len(gcm)-1; j++ {
		lo, hi := gcm[j+1], gcm[j]
		if hi-lo <= 1 || d.x[hi] == d.x[lo] {
			continue
		}
		slope := float64(hi-lo) / (d.x[hi] - d.x[lo])
		for k := lo; k <= hi; k++ {
			worst = max(worst, float64(k-lo+1)-(d.x[k]-d.x[lo])*slope)
		}
	}
	return worst
}

// right returns the greatest distance of the data below the majorant outside the new modal interval.
func (d *dipper) right(lcm []int, ih int) float64 {
	worst := 0.0
	for j := ih; j < len(lcm)-1; j++ {
		lo, hi := lcm[j], lcm[j+1]
		if hi-lo <= 1 || d.x[hi] == d.x[lo] {
			continue
		}
		slope := float64(hi-lo) / (d.x[hi] - d.x[lo])
		for k := lo; k <= hi; k++ {
			worst = max(worst, (d.x[k]-d.x[lo])*slope-float64(k-lo-1))
		}
	}
	return worst
}
