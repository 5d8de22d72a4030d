package stats

import "math"

// criticals keeps the distributions of the studentized range by the number of columns.
type criticals map[int]*critical

func (cs criticals) of(k int) *critical {
	if cs[k] == nil {
		cs[k] = &critical{NewStudentizedRange(k), map[float64]criticalAt{}}
	}
	return cs[k]
}

// critical keeps what depends on the degrees of freedom alone; most pairs of a metric have the same.
type critical struct {
	r  *StudentizedRange
	by map[float64]criticalAt
}

type criticalAt struct {
	one, all float64 // half widths of a 95 % interval in standard errors: of one comparison, of all at once
	scale    scale
}

func (c *critical) at(df float64) criticalAt {
	at, ok := c.by[df]
	if !ok {
		at = criticalAt{TQuantile(1-Level/2, df), c.r.Quantile(1-Level, df) / math.Sqrt2, newScale(df)}
		at.all = max(at.all, at.one) // equal for two columns, up to the error of the integration
		c.by[df] = at
	}
	return at
}

// p is the p-value of the studentized range for one estimate.
func (c *critical) p(e Estimate, at criticalAt) float64 {
	if e.Var == 0 {
		return e.P()
	}
	return max(e.P(), 1-c.r.cdf(math.Sqrt2*math.Abs(e.Mean)/e.Error(), at.scale))
}
