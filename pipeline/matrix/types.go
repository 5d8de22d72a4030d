// Package matrix is the experiment as data: profiles, columns, links and the ordered plan made of them. It does no I/O and reads no clock.
package matrix

import "time"

// Placement names where client and server may run.
type Placement string

// Placements of the published benchmark.
const (
	PlacementUnpinned Placement = "unpinned" // single throughput
	PlacementOneEach  Placement = "one-each" // sparse latency: one CPU for each side
	PlacementSplit    Placement = "split"    // concurrent and loaded: up to four CPUs for each side
)

// LinkSpec is the impaired network of one run. The zero value is a clean loopback.
type LinkSpec struct {
	LossPPM  int           `json:"loss_ppm"` // per packet, each direction
	DelayNS  time.Duration `json:"delay_ns"` // one way
	MTU      int           `json:"mtu"`      // bytes
	Limit    int           `json:"limit"`    // packets, netem queue
	RTOMinNS time.Duration `json:"rto_min_ns,omitempty"`
	Backend  string        `json:"backend"`  // auto, netem, nft or nfqueue
	Topology string        `json:"topology"` // lo; others are reserved
	More     Impairment    `json:"impairment,omitzero"`
}

// Profile is one row of the published tables.
type Profile struct {
	ID           string        `json:"id"` // <suite>-<payload>B-<N>c-l<loss %>-d<one-way ms>
	Suite        string        `json:"suite"`
	PayloadBytes int           `json:"payload_bytes"`
	Connections  int           `json:"connections"`
	Messages     int           `json:"messages"` // burst, per connection
	Warmup       int           `json:"warmup"`
	Samples      int           `json:"samples"`
	Window       int           `json:"window"`
	Repetitions  int           `json:"repetitions"`
	Listeners    int           `json:"listeners"`
	Placement    Placement     `json:"placement"`
	CPUs         int           `json:"cpus"`    // at most so many for each side; 0 where the placement is unpinned
	Workers      int           `json:"workers"` // worker threads: min(Workers, CPUs of the process)
	Link         LinkSpec      `json:"link"`
	Deadline     time.Duration `json:"deadline_ns"` // of the client
	Rationale    string        `json:"rationale"`
}

// Variant is one column: a driver and how it is called.
type Variant struct {
	Name       string         `json:"name"`
	Driver     string         `json:"driver"`          // base name of the driver's file, or what --driver bound to this name
	Image      string         `json:"image,omitempty"` // NAME@sha256:<hex> of a container image that holds the driver; empty: a file
	API        string         `json:"api"`             // send or batch
	Policy     string         `json:"policy"`          // off, default, or full: batch calls pack to the MTU
	MTU        map[string]int `json:"mtu,omitempty"`   // by suite; absent: the driver's default
	RcvBuf     int            `json:"rcvbuf,omitempty"`
	SndBuf     int            `json:"sndbuf,omitempty"`
	BuffersOn  string         `json:"buffers_on"` // both, or server: the client keeps the kernel's default
	GSO        string         `json:"gso"`        // off, on, or lossless: on only where the profile has neither loss nor delay
	RTOMinNS   time.Duration  `json:"rto_min_ns,omitempty"`
	Unreliable bool           `json:"unreliable,omitempty"` // unsupported where the profile has loss
	Extra      bool           `json:"extra,omitempty"`
	Rationale  string         `json:"rationale,omitempty"`
}

// Run is one planned measurement.
type Run struct {
	ID         string // <profile>/<variant>/r<repetition>
	Index      int    // position in the plan, from 0
	Block      int    // all columns of one profile and repetition share it
	Profile    Profile
	Variant    Variant
	Repetition int    // from 1
	Seed       string // hex, 32 bytes: SHA-256(matrix seed, profile, repetition); the same for all columns of a block
}

// Plan is the ordered list of runs of one matrix under one selection.
type Plan struct {
	Matrix    string // name
	FileHash  string // SHA-256 of the matrix file, hex
	Kind      string // published, custom, quick or smoke
	Seed      string
	Hash      string // SHA-256, hex, over everything that decides what is run and how
	Deadlines Deadlines
	NoFile    int   // descriptors a process needs beside one per connection
	Probe     []Run // run before each block, in this order; empty: no probe
	Runs      []Run

	columns []string // every selected column, in the order of tables
}

// Deadlines bound the parts of a run.
type Deadlines struct {
	Client      time.Duration `json:"client_ns"`       // a run's client, unless its profile says otherwise
	ServerExtra time.Duration `json:"server_extra_ns"` // added for the server
	Ready       time.Duration `json:"ready_ns"`        // start of the server to its ready record
	Stop        time.Duration `json:"stop_ns"`         // SIGTERM to SIGKILL
}

// Cell is a profile and a column: the unit of every table.
type Cell struct{ Profile, Variant string }
