package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"transportbench/artifacts"
	"transportbench/artifacts/reference"
)

// id is the folder's name: the day of publication.
const id = "2026-10-12"

// cell is reference.Cell with its numbers as digits.
type cell struct {
	Cell         string              `json:"cell"`
	Profile      string              `json:"profile"`
	Variant      string              `json:"variant"`
	Suite        string              `json:"suite"`
	PayloadBytes int                 `json:"payload_bytes"`
	Connections  int                 `json:"connections"`
	Messages     int                 `json:"messages"`
	LossPPM      int                 `json:"loss_ppm"`
	DelayNS      int64               `json:"delay_ns"`
	N            int                 `json:"n"`
	Metrics      map[string]quantity `json:"metrics"`
}

// convert reads both inputs and writes the three files of a reference into dir.
func convert(cellsPath, claimsPath, dir string) error {
	var src source
	cellsSum, err := load(cellsPath, &src)
	if err != nil {
		return err
	}
	var said sourceClaims
	claimsSum, err := load(claimsPath, &said)
	if err != nil {
		return err
	}
	cells, columns, err := convertCells(src)
	if err != nil {
		return err
	}
	claims, err := convertClaims(said, src)
	if err != nil {
		return err
	}
	m := manifest(src, columns)
	m.SourceSHA256 = map[string]string{filepath.Base(cellsPath): cellsSum, filepath.Base(claimsPath): claimsSum}
	if err := writeJSON(dir, artifacts.ManifestFile, m); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, reference.CellsFile), cells, 0o644); err != nil {
		return err
	}
	return writeJSON(dir, reference.ClaimsFile, claims)
}

func load(path string, into any) (sum string, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b)), nil
}

func convertCells(src source) (lines []byte, columns []string, err error) {
	for _, s := range src.Cells {
		c, err := convertCell(s)
		if err != nil {
			return nil, nil, err
		}
		b, err := json.Marshal(c)
		if err != nil {
			return nil, nil, err
		}
		lines = append(append(lines, b...), '\n')
		if !slices.Contains(columns, c.Variant) {
			columns = append(columns, c.Variant)
		}
	}
	return lines, columns, nil
}

func convertCell(s sourceCell) (cell, error) {
	profile, err := s.profile()
	if err != nil {
		return cell{}, err
	}
	suite, err := s.suite()
	c := cell{
		Cell: profile + "/" + s.Transport, Profile: profile, Variant: s.Transport, Suite: suite, PayloadBytes: s.Payload,
		Connections: s.Connections, Messages: s.Messages, LossPPM: s.lossPPM(), DelayNS: s.delayNS(), N: s.Repeats, Metrics: map[string]quantity{},
	}
	for name, q := range map[string]*quantity{"throughput": s.Throughput, "p50": s.P50, "p95": s.P95, "p99": s.P99} {
		if q == nil {
			continue
		}
		ours, err := s.metric(name)
		if err != nil {
			return c, err
		}
		c.Metrics[ours] = quantity{s.Unit, q.Median, q.Min, q.Max}
	}
	if s.ClientRSS == nil || s.ServerRSS == nil {
		return c, fmt.Errorf("cell %s has no RSS", c.Cell)
	}
	c.Metrics["client_rss"] = quantity{"MiB", s.ClientRSS.Median, s.ClientRSS.Min, s.ClientRSS.Max}
	c.Metrics["server_rss"] = quantity{"MiB", s.ServerRSS.Median, s.ServerRSS.Min, s.ServerRSS.Max}
	return c, err
}

func manifest(src source, columns []string) reference.Manifest {
	rust := "rust-raknet 1.4.0, revision 1199ac7 (the Rust library, not ours)"
	return reference.Manifest{
		Format: artifacts.Format, ID: id, Kind: reference.Kind, Columns: columns,
		Label: "published 12 October 2026; its RakNet columns are the Rust library",
		Libraries: map[string]string{
			"tcp": "kernel TCP through Tokio (Rust)", "raknet-send": rust, "raknet-batch": rust, "raknet-send-policy": rust, "raknet-batch-policy": rust,
			"kcp-c": "C KCP, the upstream core", "quic-go": "quic-go (Go)",
		},
		Source: src.Source, Measured: src.Measured, Machine: src.Machine, Measurements: suites(src.Measurements),
	}
}

// suites renames the groups of the source.
func suites(by map[string]int) map[string]int {
	out := map[string]int{}
	for group, n := range by {
		if s, err := (sourceKey{Group: group}).suite(); err == nil {
			group = s
		}
		out[group] = n
	}
	return out
}

func writeJSON(dir, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), append(b, '\n'), 0o644)
}
