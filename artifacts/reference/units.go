package reference

import "fmt"

// Base returns the quantity in the base units of package summary: B/s, ns or B.
func (q Quantity) Base() (median, lo, hi float64, err error) {
	per, ok := map[string]float64{"MiB/s": 1 << 20, "MiB": 1 << 20, "us": 1e3, "ms": 1e6}[q.Unit]
	if !ok {
		return 0, 0, 0, fmt.Errorf("unknown unit %q", q.Unit)
	}
	return q.Median * per, q.Min * per, q.Max * per, nil
}
