// Package reference reads artifacts of kind reference: tables that others published, kept as data to stand beside our own runs.
package reference

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// Kind is the manifest's kind of a folder that this package reads.
const Kind = "reference"

// Files of a reference; manifest.json stands beside them.
const (
	CellsFile  = "cells.ndjson"
	ClaimsFile = "claims.json"
)

// maxFileBytes bounds every file of a reference.
const maxFileBytes = 4 << 20

// Manifest is manifest.json of a reference: where published numbers come from. Its first members are those of a measured artifact.
type Manifest struct {
	Format       int               `json:"format"`
	ID           string            `json:"id"`
	Kind         string            `json:"kind"`
	Columns      []string          `json:"columns"`      // in the order in which tables show them
	Label        string            `json:"label"`        // stands wherever the numbers stand beside ours
	Libraries    map[string]string `json:"libraries"`    // by column: what was measured under that name
	Source       string            `json:"source"`       // where the numbers were printed
	Measured     string            `json:"measured"`     // date
	Machine      map[string]string `json:"machine"`      // as published
	Measurements map[string]int    `json:"measurements"` // by suite, and total
	SourceSHA256 map[string]string `json:"source_sha256"`
}

// Quantity is a printed median with its printed range.
type Quantity struct {
	Unit   string  `json:"unit"` // MiB/s, us, ms or MiB
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Cell is one line of cells.ndjson: a profile and a column with what was printed of its runs.
type Cell struct {
	Cell         string              `json:"cell"` // <profile>/<variant>
	Profile      string              `json:"profile"`
	Variant      string              `json:"variant"`
	Suite        string              `json:"suite"`
	PayloadBytes int                 `json:"payload_bytes"`
	Connections  int                 `json:"connections"`
	Messages     int                 `json:"messages"` // of all connections; sparse: sequential samples
	LossPPM      int                 `json:"loss_ppm"`
	DelayNS      int64               `json:"delay_ns"` // one way
	N            int                 `json:"n"`        // runs behind every quantity
	Metrics      map[string]Quantity `json:"metrics"`  // by the names of package summary
}

// ID returns the cell as the rest of the program names it.
func (c Cell) ID() matrix.Cell { return matrix.Cell{Profile: c.Profile, Variant: c.Variant} }

// Point is one metric of one cell, with a value where a claim prints one.
type Point struct {
	Cell   string   `json:"cell"`
	Metric string   `json:"metric"`
	Value  *float64 `json:"value,omitempty"` // in the unit of the cell's metric
}

// Claim is one published statement: values that it cites, and orders that it asserts, greatest value first.
type Claim struct {
	ID     string    `json:"id"`
	Text   string    `json:"text"`
	Equals []Point   `json:"equals"`
	Orders [][]Point `json:"orders"`
}

// Amendment is a number that was changed after it was published.
type Amendment struct {
	Cell           string    `json:"cell"`
	Metric         string    `json:"metric"`
	Unit           string    `json:"unit"`
	Median         float64   `json:"median"`
	OriginalMedian float64   `json:"original_median"`
	OriginalRange  []float64 `json:"original_range"`
	RetestRuns     int       `json:"retest_runs"`
	RetestRange    []float64 `json:"retest_range"`
	Note           string    `json:"note"`
}

// Claims is claims.json.
type Claims struct {
	Schema     string         `json:"schema"`
	Claims     []Claim        `json:"claims"`
	Amendments []Amendment    `json:"amendments"`
	DropsMax   map[string]int `json:"udp_receive_buffer_drops_max"` // datagrams, by column
	DropsOther []int          `json:"udp_receive_buffer_drops_max_other_edition"`
}

// Reference is a whole folder.
type Reference struct {
	Dir      string
	Manifest Manifest
	Cells    []Cell // in published order
	Claims   Claims
	SHA256   string // over its files
}

// Find returns the cell called <profile>/<variant>.
func (r *Reference) Find(id string) (Cell, bool) {
	for _, c := range r.Cells {
		if c.Cell == id {
			return c, true
		}
	}
	return Cell{}, false
}

// IsReference reports whether dir holds a manifest of kind reference.
func IsReference(dir string) bool {
	m, err := artifacts.ReadManifest(dir)
	return err == nil && m.Kind == Kind
}

// Load reads a reference folder. Unknown members and repeated cells are errors: nothing printed may be lost.
func Load(dir string) (*Reference, error) { return load(os.DirFS(dir), dir) }

// Published returns the tables of 12 October 2026, which every bench carries.
func Published() (*Reference, error) {
	const dir = "2026-10-12"
	fsys, err := fs.Sub(embedded, dir)
	if err != nil {
		return nil, fmt.Errorf("reference %s: %w", dir, err)
	}
	return load(fsys, dir)
}

//go:embed 2026-10-12/manifest.json 2026-10-12/cells.ndjson 2026-10-12/claims.json
var embedded embed.FS

func load(dir fs.FS, name string) (*Reference, error) {
	r, all := &Reference{Dir: name}, sha256.New()
	if err := readJSON(dir, all, artifacts.ManifestFile, &r.Manifest); err != nil {
		return nil, err
	}
	if r.Manifest.Kind != Kind || r.Manifest.Format != artifacts.Format {
		return nil, fmt.Errorf("%s: kind %q format %d, want %s and %d", name, r.Manifest.Kind, r.Manifest.Format, Kind, artifacts.Format)
	}
	if err := readJSON(dir, all, ClaimsFile, &r.Claims); err != nil {
		return nil, err
	}
	b, err := read(dir, all, CellsFile)
	if err != nil {
		return nil, err
	}
	r.SHA256 = hex.EncodeToString(all.Sum(nil))
	return r, r.decodeCells(b)
}

func (r *Reference) decodeCells(b []byte) error {
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		var c Cell
		if err := strict(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("%s:%d: %w", CellsFile, n, err)
		}
		if c.Cell != c.Profile+"/"+c.Variant || seen[c.Cell] {
			return fmt.Errorf("%s:%d: cell %q is misnamed or given twice", CellsFile, n, c.Cell)
		}
		seen[c.Cell] = true
		r.Cells = append(r.Cells, c)
	}
	return lines.Err()
}

func readJSON(dir fs.FS, all hash.Hash, name string, into any) error {
	b, err := read(dir, all, name)
	if err != nil {
		return err
	}
	if err := strict(b, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// read returns a file and adds its name and bytes to all.
func read(dir fs.FS, all hash.Hash, name string) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	b, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(b) > maxFileBytes {
		err = fmt.Errorf("%s: over %d bytes", name, maxFileBytes)
	}
	fmt.Fprintf(all, "%s %d\n%s", name, len(b), b)
	return b, err
}

func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}
