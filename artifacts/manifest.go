package artifacts

import (
	"encoding/json"
	"fmt"
	"time"

	"transportbench/transports/wire"
)

// Manifest is manifest.json: what was measured, with what, where, and how it ended.
type Manifest struct {
	Format int    `json:"format"`
	ID     string `json:"id"`   // <matrix>-<UTC>-<rev7|norev>: the folder's first name
	Kind   string `json:"kind"` // published, custom, quick, smoke or reference

	Matrix   MatrixRef `json:"matrix"`
	PlanHash string    `json:"plan_hash"`
	Columns  []string  `json:"columns"`           // variants in the order in which tables show them
	Options  []string  `json:"options,omitempty"` // selection as given: --only, --scale, --extra ...

	Code    Code                 `json:"code"`
	Pins    Pins                 `json:"pins"`
	Drivers map[string]DriverRef `json:"drivers"`          // by driver name
	Images  map[string]string    `json:"images,omitempty"` // config digests by name; Containers tells more
	Bench   string               `json:"bench_sha256,omitempty"`
	Launch  string               `json:"launch_sha256,omitempty"`

	MeasuredOn      json.RawMessage `json:"measured_on,omitempty"` // pipeline/host capture from inside
	ControlledFrom  json.RawMessage `json:"controlled_from,omitempty"`
	HostLabel       string          `json:"host_label,omitempty"`
	HostFingerprint string          `json:"host_fingerprint"`     // a resume on another machine is refused
	Runtime         string          `json:"runtime"`              // local, docker or vm
	Containers      *Containers     `json:"containers,omitempty"` // runtime docker only
	VM              *VM             `json:"vm,omitempty"`         // runtime vm only
	Shared          bool            `json:"shared,omitempty"`     // another bench was allowed to run at the same time

	LinkBackends map[string]string `json:"link_backends"` // by profile; none: no backend can do it here
	Placement    Placement         `json:"placement"`
	RSS          map[string]RSS    `json:"rss,omitempty"` // by suite
	Network      NetSnapshot       `json:"host_network"`

	Started  time.Time  `json:"started"`
	Finished *time.Time `json:"finished"`

	Planned     int `json:"planned"`
	OK          int `json:"ok"`
	Failed      int `json:"failed"`
	Unsupported int `json:"unsupported"`
	NotRun      int `json:"not_run"`

	Amends     *Amends     `json:"amends"`
	Replicates *Replicates `json:"replicates,omitempty"`

	Lines int    `json:"journal_lines"` // of runs.ndjson when sealed
	Head  string `json:"journal_head"`  // SHA-256 of its last line
}

// MatrixRef names the experiment.
type MatrixRef struct {
	Name string `json:"name"`
	Hash string `json:"hash"` // SHA-256 of the matrix file
	Seed string `json:"seed"`
}

// Code is the source that made bench.
type Code struct {
	Commit    string `json:"commit"` // empty: unknown
	Dirty     bool   `json:"dirty"`
	Toolchain string `json:"toolchain"`
}

// Pins tells how the binaries compare with containers/pins.json.
type Pins struct {
	SHA256 string   `json:"sha256,omitempty"` // of the pins file
	Drift  []string `json:"drift,omitempty"`  // what differs from it, one line each
}

// DriverRef is one driver binary.
type DriverRef struct {
	SHA256   string         `json:"sha256,omitempty"`
	Missing  string         `json:"missing,omitempty"` // why there is none
	Describe *wire.Describe `json:"describe,omitempty"`
	Bound    bool           `json:"bound,omitempty"` // brought by the user with --driver
}

// Containers says what ran the drivers' containers.
type Containers struct {
	Engine json.RawMessage     `json:"engine"` // name, version, API, storage and cgroup driver (pipeline/sandbox Engine)
	Images map[string]ImageRef `json:"images"` // by name of the driver, or holder
	Limits json.RawMessage     `json:"limits"` // asked for, of every container; what the engine made of them is in the journal
}

// ImageRef is one image. All digests are sha256:<hex>.
type ImageRef struct {
	Config   string   `json:"config"`   // of the configuration: the image's id in most engines
	Manifest string   `json:"manifest"` // what a registry calls it
	Layers   []string `json:"layers"`   // uncompressed, in order; compared with the engine's
}

// RSS qualifies every peak RSS of a suite.
type RSS struct {
	FloorKiB   int64 `json:"floor_kib"`    // a trivial static program under launch
	StepKiB    int64 `json:"step_kib"`     // resolution of the counter
	FormulaKiB int64 `json:"formula_kib"`  // 4 KiB x max(32, 2 x CPUs)
	Measured   bool  `json:"step_by_test"` // false: no two readings differed, the step is the formula's
}

// NetSnapshot proves that the host's own network is as it was.
type NetSnapshot struct {
	Before string `json:"before,omitempty"` // SHA-256 of the snapshot
	After  string `json:"after,omitempty"`
	Equal  *bool  `json:"equal"` // null: not compared
}

// Amends names the artifact whose blocks this one measures again.
type Amends struct {
	ID    string `json:"id"`
	Block string `json:"block"`
}

func (m Manifest) encode() ([]byte, error) {
	m.Format = Format
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return append(b, '\n'), nil
}

func decodeManifest(b []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return m, at(ManifestFile, 0, fmt.Errorf("%w: %w", ErrMalf, err))
	}
	if m.Format != Format {
		return m, atf(ManifestFile, 0, ErrFormat, "format %d, this bench reads %d", m.Format, Format)
	}
	return m, nil
}
