//go:build linux

package udp

import (
	"errors"
	"slices"

	"transportbench/transports/wire"
)

// report writes the samples file and the result record.
func (c *client) report(startNS int64) error {
	res := c.result(startNS)
	if res.Bytes == 0 {
		return errors.New("burst: no echo came back; is the server running and the link up?")
	}
	sparse, even := c.gather(func(conn *conn) []int64 { return conn.sparse })
	kind, rtts := wire.SamplesSparse, sparse
	var loaded []int64
	if c.plan.loaded {
		loaded, even = c.gather(func(conn *conn) []int64 { return conn.loaded })
		kind, rtts = wire.SamplesLoaded, loaded
	}
	if c.cfg.SamplesFile != "" {
		if err := wire.WriteSamples(c.cfg.SamplesFile, kind, even, rtts); err != nil {
			return err
		}
	}
	res.Sparse, res.Loaded = quantiles(sparse), quantiles(loaded) // sorts: the file needs the order of completion
	return c.out.Write(res)
}

// gather joins one series of all connections and says how many connections the samples file may name: it promises equal shares,
// so after a loss the series is filed as that of one.
func (c *client) gather(series func(*conn) []int64) (all []int64, connections int) {
	n := 0
	connections = len(c.conns)
	for _, conn := range c.conns {
		n += len(series(conn))
		if len(series(conn)) != len(series(c.conns[0])) {
			connections = 1
		}
	}
	all = make([]int64, 0, n)
	for _, conn := range c.conns {
		all = append(all, series(conn)...)
	}
	return all, connections
}

// result sums up all connections: verified + lost is every message of the plan.
func (c *client) result(startNS int64) wire.Result {
	res := wire.Result{PerConn: make([]wire.ConnResult, len(c.conns))}
	var datagrams, calls int64
	for i, conn := range c.conns {
		res.ElapsedNS = max(res.ElapsedNS, conn.lastNS-startNS)
		res.Messages += int64(c.cfg.Messages)
		res.Bytes += conn.burst * int64(c.cfg.Payload)
		res.Verified += conn.verified
		res.Lost += conn.lost
		res.PerConn[i] = wire.ConnResult{BurstNS: max(0, conn.lastNS-startNS), RTTSumNS: conn.rttSum}
	}
	for _, w := range c.workers {
		datagrams += w.tx.datagrams
		calls += w.calls + w.rx.calls + w.tx.calls
	}
	res.Datagrams, res.Syscalls = &datagrams, &calls
	return res
}

// quantiles sorts ns in place and takes nearest ranks: index ceil(n*p) - 1, as every published driver does. An empty series has
// none.
func quantiles(ns []int64) *wire.Quantiles {
	if len(ns) == 0 {
		return nil
	}
	slices.Sort(ns)
	rank := func(percent int) int64 { return ns[(len(ns)*percent+99)/100-1] }
	return &wire.Quantiles{N: len(ns), P50NS: rank(50), P95NS: rank(95), P99NS: rank(99)}
}
