package link

import (
	"errors"
	"fmt"
	"math"
	"time"

	"transportbench/pipeline/matrix"
)

// Options are what Apply needs besides the spec.
type Options struct {
	Backend string   // what Choose returned: netem, nft or nfqueue
	Seed    [32]byte // of the block; only nfqueue uses it
	Port    int      // of the server: tells the two directions apart
}

// Defaults for fields that a LinkSpec leaves at zero.
const (
	defaultMTU   = 1500   // bytes
	defaultLimit = 100000 // packets; netem's own default of 1000 overflows at 10 ms
)

// congestionControl is what every TCP socket of a run must use.
const congestionControl = "cubic"

// wholePPM is certainty in parts per million.
const wholePPM = 1_000_000

// plan is a checked spec with its defaults filled in.
type plan struct {
	lossPPM int
	delay   time.Duration
	mtu     int
	limit   int
	rtoMin  time.Duration
	seed    [32]byte
	port    uint16
	more    matrix.Impairment
}

func newPlan(spec matrix.LinkSpec, o Options) (plan, error) {
	p := plan{spec.LossPPM, spec.DelayNS, spec.MTU, spec.Limit, spec.RTOMinNS, o.Seed, uint16(o.Port), spec.More}
	if p.mtu == 0 {
		p.mtu = defaultMTU
	}
	if p.limit == 0 {
		p.limit = defaultLimit
	}
	return p, errors.Join(checkSpec(spec), checkRanges(p, o.Port))
}

func checkSpec(spec matrix.LinkSpec) error {
	if spec.Topology != "" && spec.Topology != "lo" {
		return fmt.Errorf("link topology %q is reserved: only lo is built", spec.Topology)
	}
	if field, why := spec.Problem(); field != "" {
		return fmt.Errorf("link %s %s", field, why)
	}
	return nil
}

func checkRanges(p plan, port int) error {
	switch {
	case p.lossPPM < 0 || p.lossPPM >= wholePPM:
		return fmt.Errorf("link loss of %d ppm is outside 0 to 999999", p.lossPPM)
	case p.delay < 0 || p.delay > time.Minute:
		return fmt.Errorf("link delay %s is outside 0 to 1m", p.delay)
	case p.mtu < 576 || p.mtu > 65536:
		return fmt.Errorf("link mtu %d is outside 576 to 65536", p.mtu)
	case p.limit < 1:
		return fmt.Errorf("link limit of %d packets must be at least 1", p.limit)
	case p.rtoMin%time.Millisecond != 0 || p.rtoMin < 0:
		return fmt.Errorf("link rto_min %s must be whole milliseconds: the route metric has no finer unit", p.rtoMin)
	case port < 1 || port > 65535:
		return fmt.Errorf("link port %d is outside 1 to 65535: the server's port tells the directions apart", port)
	}
	return nil
}

// dropThreshold is the smallest value of a uniform 32-bit number that survives: P(x < threshold) = ppm / 1e6, to 2^-32.
func dropThreshold(ppm int) uint32 {
	return uint32(min((uint64(ppm)<<32+wholePPM/2)/wholePPM, math.MaxUint32))
}

// thresholdPPM is the inverse of dropThreshold, for reading back.
func thresholdPPM(threshold uint32) int {
	return int((uint64(threshold)*wholePPM + 1<<31) >> 32)
}
