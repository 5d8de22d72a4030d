// Package artifacts reads, writes and verifies the folder that a benchmark run leaves behind; README.md specifies the format.
package artifacts

import (
	"encoding/json"
	"time"

	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// Format is the version of the artifact format that this package writes.
const Format = 1

// Outcome is the single final state of an attempt.
type Outcome string

// Outcomes.
const (
	OutcomeOK          Outcome = "ok"
	OutcomeFailed      Outcome = "failed"      // ran, and is no measurement
	OutcomeUnsupported Outcome = "unsupported" // could not be tried here; Reason names what is missing
)

// Record is one line of runs.ndjson: one finished attempt at one planned run. Times are UTC or ns.
type Record struct {
	Type    string  `json:"type"` // run; resume and probe lines have other types
	Prev    string  `json:"prev"` // SHA-256 (hex) of the previous line without its newline; 64 zeros for the first
	RunID   string  `json:"run_id"`
	Index   int     `json:"index"`
	Attempt int     `json:"attempt"`
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`

	Profile    matrix.Profile `json:"profile"`
	Variant    matrix.Variant `json:"variant"`
	Repetition int            `json:"repetition"`
	Block      int            `json:"block"`

	Started    time.Time        `json:"started"`
	WallNS     int64            `json:"wall_ns"`
	OverheadNS map[string]int64 `json:"overhead_ns,omitempty"` // by phase; connect is part of the measurement and only shown

	// OutsideBurstNS is the burst by bench's own clock, from the arrival of the start record to that of the result. It includes
	// what the client does in between, such as writing its samples file; a record that is read late makes it shorter.
	OutsideBurstNS int64 `json:"outside_burst_ns,omitempty"`

	Server Side `json:"server"`
	Client Side `json:"client"`

	Link      *link.State     `json:"link,omitempty"`
	Counters  *link.Counters  `json:"counters,omitempty"` // delta over the run
	Placement Placement       `json:"placement"`
	Host      json.RawMessage `json:"disturbance,omitempty"`
	Flags     []string        `json:"flags,omitempty"` // loss-unusual, short-run, stolen-time, ...

	Series []Series `json:"series,omitempty"`
}

// Side is what one process said and how it ended.
type Side struct {
	Args      []string        `json:"args,omitempty"`
	Digest    string          `json:"digest,omitempty"` // SHA-256 of the driver binary
	Hello     *wire.Hello     `json:"hello,omitempty"`
	Connected *wire.Connected `json:"connected,omitempty"`
	Start     *wire.Start     `json:"start,omitempty"`
	Result    *wire.Result    `json:"result,omitempty"`
	Done      *wire.Done      `json:"done,omitempty"`
	Error     *wire.Error     `json:"error,omitempty"`
	Exit      *wire.Exit      `json:"exit,omitempty"`
	Log       string          `json:"log,omitempty"` // file in logs/ holding its standard error
	Container *Container      `json:"container,omitempty"`
}

// Container is what the engine said of the container that a process ran in: its limits after it was made, its end.
type Container struct {
	Image       string `json:"image"`  // the id it was started by
	Cpuset      string `json:"cpuset"` // CPU list; empty: every CPU of the engine
	MemoryBytes int64  `json:"memory_bytes"`
	PIDs        int64  `json:"pids"`
	NoFile      int64  `json:"nofile"`
	User        string `json:"user"`
	ReadOnly    bool   `json:"read_only"`
	ExitCode    int    `json:"exit_code"`
	OOMKilled   bool   `json:"oom_killed"` // its memory control group had an oom_kill event
}

// Placement is where the processes were allowed to run, read back.
type Placement struct {
	Label  string `json:"label"` // reference or reduced
	Server []int  `json:"server"`
	Client []int  `json:"client"`
}

// Series summarises one RTT series so that everything derived comes from this file alone.
type Series struct {
	Kind      string  `json:"kind"` // sparse or loaded
	N         int     `json:"n"`
	MinNS     int64   `json:"min_ns"`
	MaxNS     int64   `json:"max_ns"`
	MeanNS    float64 `json:"mean_ns"`
	Quantiles []int64 `json:"quantiles_ns"` // 201 values at stats.FixedP
	Lag1      float64 `json:"lag1"`
	Dip       float64 `json:"dip"`
	File      string  `json:"file,omitempty"`
	SHA256    string  `json:"sha256,omitempty"` // of the uncompressed samples file
}
