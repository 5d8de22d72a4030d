package link

import (
	"time"

	"transportbench/pipeline/matrix"
)

// Backends, in order of preference.
const (
	BackendNetem   = "netem"
	BackendNFT     = "nft"
	BackendNFQueue = "nfqueue"
)

// BackendPlain is the link without impairment and without anything that could make one. Choose never picks it: calibrations
// ask for it by name, to see what the others add.
const BackendPlain = "plain"

// Loss units.
const (
	LossUnitDatagram = "datagram"
	LossUnitBatch    = "batch" // a UDP_SEGMENT batch is lost as a whole; without batches this is a datagram too
)

// State is what the kernel says after Apply: never what was asked for.
type State struct {
	Backend           string        `json:"backend"`
	MTU               int           `json:"mtu"`
	GSOMaxSegs        int           `json:"gso_max_segs"`
	GSOMaxSize        int           `json:"gso_max_size"`
	GROMaxSize        int           `json:"gro_max_size"`
	CongestionControl string        `json:"congestion_control"` // metric of the loopback routes
	RTOMinNS          time.Duration `json:"rto_min_ns,omitempty"`
	LossPPM           int           `json:"loss_ppm"`
	DelayNS           time.Duration `json:"delay_ns"`
	Limit             int           `json:"limit,omitempty"` // packets
	Seed              string        `json:"seed,omitempty"`  // hex; empty: the backend is not seeded
	LossUnit          string        `json:"loss_unit"`       // what one loss takes away: datagram, or batch where senders use UDP_SEGMENT
	Detail            string        `json:"detail"`          // the rule or qdisc as text

	More matrix.Impairment `json:"impairment,omitzero"` // rate steps are those that this process will make
}

// Counters are running totals of the namespace since Apply.
type Counters struct {
	PacketsLo  int64            `json:"packets_lo"` // sent on lo
	BytesLo    int64            `json:"bytes_lo"`
	OverMTU    int64            `json:"over_mtu"`    // packets sent larger than the MTU, such as UDP_SEGMENT batches; -1: unknown, no nftables here
	OverMTULo  int64            `json:"over_mtu_lo"` // of these, not split before they met the loss; -1: unknown
	Directions []Direction      `json:"directions"`  // client to server, server to client; other only when it was seen
	UDP        map[string]int64 `json:"udp"`         // /proc/net/snmp Udp
	TCPExt     map[string]int64 `json:"tcp_ext"`     // /proc/net/netstat TcpExt, the fields that matter
	TCP        map[string]int64 `json:"tcp"`
	SockMem    map[string]int64 `json:"sock_mem"` // /proc/net/sockstat as TCP_mem, UDP_inuse, ...; mem in pages; a level, never a difference
}

// Direction is the ledger of one direction of one run.
type Direction struct {
	Name     string `json:"name"`     // to-server, to-client, or other
	Seen     int64  `json:"seen"`     // packets that met the dropping hook
	Dropped  int64  `json:"dropped"`  // injected
	Overflow int64  `json:"overflow"` // queue full, not injected

	Duplicated int64 `json:"duplicated,omitempty"` // copies made beside the packets seen; netem

	LateMaxNS time.Duration `json:"late_max_ns,omitempty"` // nfqueue: the longest a packet was held beyond the delay, since Apply
}

// Capability says whether a backend works here, found by trying it in a scratch namespace.
type Capability struct {
	Backend string `json:"backend"`
	OK      bool   `json:"ok"`
	Loss    bool   `json:"loss"`
	Delay   bool   `json:"delay"`
	Reason  string `json:"reason,omitempty"` // plain words: not built, module not loaded, no permission, ...
	Fix     string `json:"fix,omitempty"`
}
