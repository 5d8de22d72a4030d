package summary

import (
	"fmt"
	"slices"

	"transportbench/artifacts"
	"transportbench/transports/wire"
)

// run is one successful attempt under audit.
type run struct {
	*Audit
	*artifacts.Record
	path  string
	lossy bool // the transport repairs nothing, so echoes may be missing
	floor artifacts.RSS
}

func (u *run) audit() {
	if u.Client.Result == nil || u.Server.Done == nil || u.Client.Exit == nil || u.Server.Exit == nil {
		u.Check(false, "records", u.path, "result, done and both exits of a run that is ok", "one is missing")
		return
	}
	u.counts()
	u.serverCounts()
	u.little()
	u.ceiling()
	u.clock()
	u.wire()
	u.quantiles()
	u.series()
	u.memory()
	u.linked()
}

// counts: bytes = messages x payload, messages = connections x planned; an unreliable transport may lack what it counted as lost.
func (u *run) counts() {
	p, r := u.Profile, u.Client.Result
	n := int64(p.Connections)
	burst, all := n*int64(p.Messages), n*int64(p.Warmup+p.Samples+p.Messages)
	u.Check(r.Messages == burst, "messages", u.path, fmt.Sprintf("%d messages", burst), fmt.Sprint(r.Messages))
	u.Check(r.Verified+r.Lost == all, "verified", u.path, fmt.Sprintf("%d verified and lost together", all), fmt.Sprintf("%d + %d", r.Verified, r.Lost))
	u.Check(u.lossy || r.Lost == 0, "lost", u.path, "0 lost by a reliable transport", fmt.Sprint(r.Lost))
	size := int64(p.PayloadBytes)
	least := burst * size
	if u.lossy {
		least -= r.Lost * size
	}
	ok := r.Bytes >= least && r.Bytes <= burst*size && (size == 0 || r.Bytes%size == 0)
	u.Check(ok, "bytes", u.path, fmt.Sprintf("%d messages of %d B less what was lost", burst, size), fmt.Sprintf("%d B", r.Bytes))
}

// serverCounts: the server echoed what the client verified, from as many connections.
func (u *run) serverCounts() {
	d, r := u.Server.Done, u.Client.Result
	most := r.Verified
	if u.lossy {
		most += r.Lost
	}
	u.Check(d.Connections == int64(u.Profile.Connections), "server-connections", u.path, fmt.Sprint(u.Profile.Connections), fmt.Sprint(d.Connections))
	u.Check(d.Messages >= r.Verified && d.Messages <= most, "server-messages", u.path,
		fmt.Sprintf("%d to %d, by the client's counts", r.Verified, most), fmt.Sprint(d.Messages))
}

// Bounds of the mean share of a window that is in flight: above the first is impossible, below the second needs explaining.
const (
	littleMost  = 1.005
	littleLeast = 0.95
)

// little: sum of RTT / (burst time x window) of each connection is the mean share of its window in flight (Little's law), so
// it cannot exceed 1. The whole burst ends with its last connection.
func (u *run) little() {
	most, least, low, last := 0.0, 2.0, 0, int64(0)
	for _, c := range u.Client.Result.PerConn {
		last = max(last, c.BurstNS)
		if c.BurstNS <= 0 {
			u.Check(u.lossy && c.RTTSumNS == 0, "little-law", u.path, "a burst time over 0 of every connection", fmt.Sprint(c.BurstNS))
			continue
		}
		share := float64(c.RTTSumNS) / (float64(c.BurstNS) * float64(u.Profile.Window))
		most, least = max(most, share), min(least, share)
		if share < littleLeast {
			low++
		}
	}
	if len(u.Client.Result.PerConn) == 0 {
		u.Check(false, "little-law", u.path, "burst times of every connection", "none")
		return
	}
	u.Check(most <= littleMost, "little-law", u.path, fmt.Sprintf("at most %v windows in flight", littleMost), Format(most))
	u.Note(low == 0, "window-not-full", u.path, fmt.Sprintf("at least %v windows in flight", littleLeast),
		fmt.Sprintf("%d of %d connections below, least %.3g", low, len(u.Client.Result.PerConn), least))
	u.Check(len(u.Client.Result.PerConn) == u.Profile.Connections, "per-connection", u.path, fmt.Sprint(u.Profile.Connections), fmt.Sprint(len(u.Client.Result.PerConn)))
	u.Check(last == u.Client.Result.ElapsedNS, "burst-time", u.path,
		fmt.Sprintf("%d ns, when the last connection ended", last), fmt.Sprintf("%d ns", u.Client.Result.ElapsedNS))
}

// ceiling: no connection can echo more than one window in a round trip of the link.
func (u *run) ceiling() {
	delay := int64(u.Profile.Link.DelayNS)
	if delay == 0 {
		return
	}
	limit := windowCeiling(u.Profile.Connections, u.Profile.Window, u.Profile.PayloadBytes, delay)
	got, _ := throughput(u.Record)
	u.Check(got <= limit*littleMost, "window-ceiling", u.path, "at most "+Format(limit)+" B/s", Format(got))
}

// windowCeiling is connections x window x payload / round trip in B/s: 64 x 800 B / 10 ms = 4.88 MiB/s.
func windowCeiling(connections, window, payload int, oneWayNS int64) float64 {
	return float64(connections) * float64(window) * float64(payload) / (2 * float64(oneWayNS) / 1e9)
}

// memory: a client that keeps its RTTs holds 8 B for each, and no process has less than a trivial one.
func (u *run) memory() {
	least := max(1, u.floor.FloorKiB-u.floor.StepKiB)
	u.Check(min(u.Client.Exit.MaxRSSKiB, u.Server.Exit.MaxRSSKiB) >= least, "rss-floor", u.path, fmt.Sprintf("peak RSS of at least %d KiB, as of a trivial program", least),
		fmt.Sprintf("client %d, server %d KiB", u.Client.Exit.MaxRSSKiB, u.Server.Exit.MaxRSSKiB))
	n := 0
	for _, s := range u.Series {
		n += s.N
	}
	rss := u.Client.Exit.MaxRSSKiB << 10
	u.Check(rss >= 8*int64(n), "rss-samples", u.path, fmt.Sprintf("client peak RSS of at least %d B for %d RTTs", 8*n, n), fmt.Sprintf("%d B", rss))
}

// quantiles: p50 <= p95 <= p99 as the driver printed them.
func (u *run) quantiles() {
	for _, q := range []*wire.Quantiles{u.Client.Result.Sparse, u.Client.Result.Loaded} {
		if q != nil && q.N > 0 {
			u.Check(q.P50NS <= q.P95NS && q.P95NS <= q.P99NS, "quantile-order", u.path, "p50 <= p95 <= p99",
				fmt.Sprintf("%d, %d, %d ns", q.P50NS, q.P95NS, q.P99NS))
		}
	}
}

// disturbed reports whether a flag says that the run did not have the machine to itself, so that bench too may have been late.
func disturbed(flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool {
		return f == "shared-machine" || f == "cpu-pressure" || f == "stolen-time" || f == "throttled" || f == "memory-pressure"
	})
}
