package echo

import (
	"transportbench/transports/wire"
)

// report completes the samples file, if any, and writes the result record. start is the time of the barrier's release.
func (c *client) report(start int64, file *wire.SamplesFile) error {
	res := c.result(start)
	kind, samples := wire.SamplesSparse, c.sparse
	if c.loaded != nil {
		kind, samples = wire.SamplesLoaded, c.loaded
	}
	if file != nil {
		if err := file.Write(kind, len(c.lanes), samples); err != nil {
			return err
		}
	}
	res.Sparse, res.Loaded = quantiles(c.sparse), quantiles(c.loaded) // sorts: the file needs the order of completion
	return c.out.Write(res)
}

func (c *client) result(start int64) wire.Result {
	res := wire.Result{PerConn: make([]wire.ConnResult, len(c.lanes))}
	for i, l := range c.lanes {
		res.ElapsedNS = max(res.ElapsedNS, l.endNS-start)
		res.Messages += int64(c.cfg.Messages)
		res.Bytes += int64(l.burst) * int64(c.cfg.Payload)
		res.Verified += int64(l.next)
		res.PerConn[i] = wire.ConnResult{BurstNS: l.endNS - start, RTTSumNS: l.echoedNS - l.sentNS}
	}
	res.Datagrams, res.Syscalls = c.counted()
	return res
}

// counted sums what the connections know of themselves; one that does not know makes the sum unknown.
func (c *client) counted() (datagrams, syscalls *int64) {
	var d, s int64
	for _, l := range c.lanes {
		conn, ok := l.conn.(Counted)
		if !ok {
			return nil, nil
		}
		cd, cs := conn.Sent()
		if d = d + cd; cd < 0 {
			d = -1 << 62
		}
		if s = s + cs; cs < 0 {
			s = -1 << 62
		}
	}
	if d >= 0 {
		datagrams = &d
	}
	if s >= 0 {
		syscalls = &s
	}
	return datagrams, syscalls
}
