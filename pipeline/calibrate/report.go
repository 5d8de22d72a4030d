package calibrate

import "transportbench/analysis/stats"

// Schema names the JSON layout that README.md specifies.
const Schema = "transportbench-calibration/1"

// Report is one calibration of one machine. Times are nanoseconds, sizes bytes.
type Report struct {
	Schema   string    `json:"schema"`
	Bench    Bench     `json:"bench"`
	Machine  Machine   `json:"machine"`
	Started  string    `json:"started"` // RFC 3339, UTC
	Options  Options   `json:"options"`
	Plain    Plain     `json:"plain"` // the link without impairment
	Backends []Backend `json:"backends"`
}

// Bench is the program that measured.
type Bench struct {
	Commit    string `json:"commit"` // empty: unknown
	Dirty     bool   `json:"dirty"`
	Toolchain string `json:"toolchain"`
}

// Machine is what was measured on.
type Machine struct {
	Kernel   string `json:"kernel"` // uname -r
	Arch     string `json:"arch"`
	CPUModel string `json:"cpu_model"`
	CPUs     int    `json:"cpus"`
	Emulated bool   `json:"emulated"` // processor emulated in software: rates and shares hold, times are the emulator's
}

// Options decide how much is measured.
type Options struct {
	Packets  int      `json:"packets"` // sent from client to server for each loss rate
	Rounds   int      `json:"rounds"`  // interleaved rounds of CPU time and throughput
	Backends []string `json:"backends"`
	Seed     string   `json:"seed"`
}

// Plain is the link without impairment.
type Plain struct {
	RTT  Spread `json:"rtt"`
	Cost Cost   `json:"cost"`
}

// Backend is one way to impair the link. Where it does not work here, Unsupported says why and the rest is absent.
type Backend struct {
	Name        string  `json:"name"`
	Unsupported string  `json:"unsupported,omitempty"`
	Detail      string  `json:"detail,omitempty"` // the link at 1 % loss as the kernel describes it
	Loss        []Loss  `json:"loss,omitempty"`
	Replay      *Replay `json:"replay,omitempty"`
	Batch       *Batch  `json:"batch,omitempty"`
	Delay       *Delay  `json:"delay,omitempty"`
	NoDelay     string  `json:"no_delay,omitempty"` // why Delay is absent
	Cost        *Cost   `json:"cost,omitempty"`
}

// Loss is what became of numbered datagrams in one direction at one planned loss rate.
type Loss struct {
	PlannedPPM   int            `json:"planned_ppm"`
	Direction    string         `json:"direction"` // to-server or to-client
	Packets      int64          `json:"packets"`
	Lost         int64          `json:"lost"`      // by the numbers that did not arrive
	BandLow      int64          `json:"band_low"`  // exact binomial band of BandChance
	BandHigh     int64          `json:"band_high"` // inclusive
	Inside       bool           `json:"inside"`
	Runs         stats.RunsTest `json:"runs"`          // of lost and arrived in order of sending
	Ledger       int64          `json:"ledger"`        // drops that the link itself counted; -1: not told by direction
	BufferDrops  int64          `json:"buffer_drops"`  // lost at a full receive buffer, both directions: must be 0
	QueueDrops   int64          `json:"queue_drops"`   // nfqueue overflow, both directions: must be 0
	OutOfOrder   int64          `json:"out_of_order"`  // arrived after a later number
	LongestBurst int64          `json:"longest_burst"` // most losses in a row
}

// Replay says whether a seed decides which datagrams are lost. The digests are SHA-256 over the numbers lost in both directions.
type Replay struct {
	Packets   int    `json:"packets"` // each time, at 5 % loss
	First     string `json:"first"`
	Second    string `json:"second"` // the same seed
	Other     string `json:"other"`  // another seed
	SameDrops bool   `json:"same_drops"`
	Lost      int64  `json:"lost"` // in the first, both directions
}

// Batch is what became of UDP_SEGMENT batches: a sender with -gso on.
type Batch struct {
	PlannedPPM    int            `json:"planned_ppm"`
	Segments      int            `json:"segments"` // datagrams a batch
	SegmentBytes  int            `json:"segment_bytes"`
	Batches       int64          `json:"batches"`
	Arrived       []int64        `json:"arrived"` // batches of which 0, 1, ... Segments datagrams arrived
	Lost          int64          `json:"lost"`    // datagrams
	Unit          string         `json:"unit"`    // what one loss took away: batch, datagram, or none when nothing was lost
	Units         int64          `json:"units"`   // losses that could have happened
	UnitsLost     int64          `json:"units_lost"`
	BandLow       int64          `json:"band_low"` // of UnitsLost
	BandHigh      int64          `json:"band_high"`
	Inside        bool           `json:"inside"`
	Runs          stats.RunsTest `json:"runs"`                  // of datagrams in order of sending
	BatchesSent   int64          `json:"over_mtu_sent"`         // packets over the MTU handed to lo; -1: not counted
	BatchesOnLo   int64          `json:"over_mtu_arrived"`      // of these, still whole behind lo; -1: not counted
	BufferDrops   int64          `json:"buffer_drops"`          // must be 0
	SenderRefused string         `json:"unsupported,omitempty"` // why the kernel takes no batch
}

// Delay is the round trip beside the one that was asked for.
type Delay struct {
	OneWayNS  int64  `json:"one_way_ns"`
	NominalNS int64  `json:"nominal_ns"` // twice OneWayNS
	Idle      Spread `json:"idle"`       // one message at a time
	Loaded    Spread `json:"loaded"`     // a window of messages in flight
	Window    int    `json:"window"`
	// AddedNS is the median of Idle less NominalNS and the median of the plain link: what the backend gets wrong.
	AddedNS int64 `json:"added_ns"`
	LateNS  int64 `json:"late_max_ns,omitempty"` // nfqueue: the longest a packet was held beyond its delay
}

// Cost is CPU time and throughput without loss, one value a round in order of rounds.
type Cost struct {
	PayloadBytes int       `json:"payload_bytes"`
	Window       int       `json:"window"`
	Messages     int       `json:"messages"`                          // a round
	CPUNS        []int64   `json:"cpu_ns_per_packet"`                 // of client, server and link together
	BytesPerS    []float64 `json:"bytes_per_s"`                       // echoed payload, one direction
	AddedCPUNS   []int64   `json:"added_cpu_ns_per_packet,omitempty"` // less the plain link of the same round
}

// Spread describes round trips.
type Spread struct {
	N     int   `json:"n"`
	MinNS int64 `json:"min_ns"`
	P50NS int64 `json:"p50_ns"`
	P99NS int64 `json:"p99_ns"`
	MaxNS int64 `json:"max_ns"`
}

// BandChance is the two-sided chance that an honest link falls outside the band.
const BandChance = 0.001
