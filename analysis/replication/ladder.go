// Package replication fixes what a repetition of a measurement must show before it runs, and tells afterwards whether it did.
package replication

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"transportbench/analysis/summary"
)

// Format is the version of replication.json.
const Format = 1

// Ladder is replication.json: the rungs that a replication is judged by, written and hashed before its first run. It holds the numbers of
// the original that the rungs need, so that a verdict can be derived again from the replication alone.
type Ladder struct {
	Format      int      `json:"format"`
	Original    Original `json:"original"`
	Claims      []string `json:"claims,omitempty"`      // asked for alone; none: the whole plan
	Repetitions int      `json:"repetitions,omitempty"` // of every cell, by the power formula; 0: as planned in the original
	Orders      []Order  `json:"orders"`
	Cells       []Cell   `json:"cells"`
	Left        []string `json:"left_out,omitempty"` // what is not asked, and why
}

// Original is what is replicated.
type Original struct {
	ID           string            `json:"id"`
	Kind         string            `json:"kind"`
	SHA256       string            `json:"sha256"`              // of its SHA256SUMS; of a reference, of its files
	Reference    string            `json:"reference,omitempty"` // with digest, where it came from a registry
	PlanHash     string            `json:"plan_hash,omitempty"` // empty: none was published
	Class        *summary.Class    `json:"class,omitempty"`     // null: not this machine
	Launch       string            `json:"launch_sha256,omitempty"`
	Drivers      map[string]string `json:"drivers,omitempty"`      // SHA-256 by driver
	Blocks       bool              `json:"blocks"`                 // values of one position were measured in one block
	Denominators []string          `json:"denominators,omitempty"` // columns that count as the same program; none: those whose file is the same
}

// Order is a statement that can be true on any machine: one column has more of a metric than another.
type Order struct {
	Claim   string         `json:"claim"` // id of the statement that it belongs to
	Profile string         `json:"profile"`
	Metric  string         `json:"metric"`
	Greater string         `json:"greater"`
	Less    string         `json:"less"`
	Ratio   summary.Number `json:"ratio"` // greater over less in the original
}

// Cell is a cell of the original with its runs.
type Cell struct {
	Profile string   `json:"profile"`
	Variant string   `json:"variant"`
	Driver  string   `json:"driver,omitempty"`
	Facts   []string `json:"facts,omitempty"` // how it was measured, see summary.CellFacts
	Metrics []Values `json:"metrics"`
}

// Values are the runs of a cell in one metric, in base units, by repetition; null where a run has no number.
type Values struct {
	Metric string           `json:"metric"`
	Margin summary.Number   `json:"margin"` // of equality, a share
	Runs   []summary.Number `json:"runs"`
}

// maxItems bounds every list of a ladder: more cells than any plan has.
const maxItems = 100_000

// Encode returns the bytes of replication.json and their SHA-256 in hex. The same ladder gives the same bytes everywhere.
func (l *Ladder) Encode() (b []byte, hash string, err error) {
	l.Format = Format
	if b, err = json.MarshalIndent(l, "", " "); err != nil {
		return nil, "", fmt.Errorf("replication.json: %w", err)
	}
	b = append(b, '\n')
	sum := sha256.Sum256(b)
	return b, hex.EncodeToString(sum[:]), nil
}

// Decode reads replication.json. Unknown members are errors: nothing that was asked may be overlooked.
func Decode(b []byte) (*Ladder, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var l Ladder
	if err := d.Decode(&l); err != nil {
		return nil, fmt.Errorf("replication.json: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("replication.json: more than one JSON value")
	}
	switch {
	case l.Format != Format:
		return nil, fmt.Errorf("replication.json: format %d, this bench reads %d", l.Format, Format)
	case l.Original.ID == "" || len(l.Cells) == 0:
		return nil, errors.New("replication.json: names no original or no cell")
	case len(l.Cells) > maxItems || len(l.Orders) > maxItems:
		return nil, fmt.Errorf("replication.json: more than %d cells or orders", maxItems)
	}
	return &l, nil
}
