package link

import (
	"maps"
	"strconv"
	"strings"
)

// Fields kept of /proc/net/snmp Tcp and /proc/net/netstat TcpExt: the ones that explain a throughput under loss.
var (
	tcpFields    = []string{"InSegs", "OutSegs", "RetransSegs", "InErrs"}
	tcpExtFields = []string{
		"TCPTimeouts", "TCPLossProbes", "TCPLossProbeRecovery", "TCPFastRetrans", "TCPSlowStartRetrans", "TCPLostRetransmit",
		"TCPSpuriousRTOs", "TCPDSACKRecv", "TCPBacklogDrop", "TCPRcvQDrop", "ListenOverflows", "ListenDrops",
	}
)

// Sub returns the counts since earlier. Levels (SockMem) stay those of c; an unknown OverMTU stays unknown.
func (c Counters) Sub(earlier Counters) Counters {
	d := c
	d.PacketsLo -= earlier.PacketsLo
	d.BytesLo -= earlier.BytesLo
	if c.OverMTU >= 0 && earlier.OverMTU >= 0 {
		d.OverMTU -= earlier.OverMTU
		d.OverMTULo -= earlier.OverMTULo
	}
	d.Directions = subDirections(c.Directions, earlier.Directions)
	d.UDP, d.TCP, d.TCPExt = subMap(c.UDP, earlier.UDP), subMap(c.TCP, earlier.TCP), subMap(c.TCPExt, earlier.TCPExt)
	d.SockMem = maps.Clone(c.SockMem)
	return d
}

func subDirections(now, earlier []Direction) []Direction {
	base := map[string]Direction{}
	for _, e := range earlier {
		base[e.Name] = e
	}
	var ds []Direction
	for _, d := range now {
		e := base[d.Name]
		d.Seen, d.Dropped, d.Overflow, d.Duplicated = d.Seen-e.Seen, d.Dropped-e.Dropped, d.Overflow-e.Overflow, d.Duplicated-e.Duplicated
		ds = append(ds, d)
	}
	return ds
}

func subMap(now, earlier map[string]int64) map[string]int64 {
	d := make(map[string]int64, len(now))
	for k, v := range now {
		d[k] = v - earlier[k]
	}
	return d
}

// parseSNMP reads one protocol of /proc/net/snmp or netstat: a line of names and a line of values, both starting with
// "Prefix:". With fields it keeps only those. A field that the kernel does not have is absent, not zero.
func parseSNMP(text []byte, prefix string, fields []string) map[string]int64 {
	all := map[string]int64{}
	var names []string
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix+":")
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		if names == nil {
			names = words
			continue
		}
		for i := range min(len(names), len(words)) {
			if v, err := strconv.ParseInt(words[i], 10, 64); err == nil {
				all[names[i]] = v
			}
		}
		names = nil
	}
	return keep(all, fields)
}

func keep(all map[string]int64, fields []string) map[string]int64 {
	if fields == nil {
		return all
	}
	kept := map[string]int64{}
	for _, f := range fields {
		if v, ok := all[f]; ok {
			kept[f] = v
		}
	}
	return kept
}

// parseSockstat reads /proc/net/sockstat as protocol_key; mem is in pages and counts the whole machine, inuse the namespace.
func parseSockstat(text []byte) map[string]int64 {
	m := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		for i := 0; i+1 < len(words); i += 2 {
			if v, err := strconv.ParseInt(words[i+1], 10, 64); err == nil {
				m[name+"_"+words[i]] = v
			}
		}
	}
	return m
}
