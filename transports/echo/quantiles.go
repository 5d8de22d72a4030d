package echo

import (
	"slices"

	"transportbench/transports/wire"
)

// quantiles sorts ns in place and takes nearest ranks: index ceil(n*p) - 1, p in percent (reference-behaviour: every published
// driver does the same). An empty series has no quantiles.
func quantiles(ns []int64) *wire.Quantiles {
	if len(ns) == 0 {
		return nil
	}
	slices.Sort(ns)
	rank := func(percent int) int64 { return ns[(len(ns)*percent+99)/100-1] }
	return &wire.Quantiles{N: len(ns), P50NS: rank(50), P95NS: rank(95), P99NS: rank(99)}
}
