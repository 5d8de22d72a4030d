package report

import (
	"fmt"
	"slices"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// unknown stands where the artifact holds no fact.
const unknown = "unknown"

// factRow is one line of the fairness header: one value a column.
type factRow struct {
	Name   string
	Values []string
}

// column gathers what is known of a variant within one suite.
type column struct {
	name     string
	describe *wire.Describe
	missing  string
	records  []*artifacts.Record // its runs of the suite, in plan order
	rows     []summary.Row       // packets per message, by profile
}

// factRows puts the conditions under which a number came about beside the number. Nothing is assumed: what neither the driver nor
// a run's settings say is unknown.
func (b *builder) factRows(suite string) []factRow {
	cols := make([]column, len(b.in.Summary.Variants))
	for i, v := range b.in.Summary.Variants {
		cols[i] = b.column(suite, v)
	}
	rows := []factRow{
		{Name: "Transport"}, {Name: "Language"}, {Name: "Encryption"}, {Name: "Congestion control"}, {Name: "Minimum RTO"}, {Name: "Loss unit"},
		{Name: "Workers, client / server"}, {Name: "Socket buffers granted, receive + send"}, {Name: "Packets per message, both directions"},
	}
	values := []func(column) string{
		column.transport, column.language, column.encryption, column.congestion, column.minRTO, column.lossUnit,
		column.workers, column.buffers, column.packets,
	}
	for i := range rows {
		for _, c := range cols {
			rows[i].Values = append(rows[i].Values, values[i](c))
		}
	}
	return rows
}

func (b *builder) column(suite, variant string) column {
	c := column{name: variant}
	for _, profile := range b.in.Summary.ProfilesOf(suite) {
		cell := matrix.Cell{Profile: profile, Variant: variant}
		c.records = append(c.records, b.attempts[cell]...)
		if row, ok := b.in.Summary.Rows[cell]["packets_per_message"]; ok {
			c.rows = append(c.rows, row)
		}
	}
	driver := variant
	if len(c.records) > 0 {
		driver = c.records[0].Variant.Driver
	}
	ref := b.in.Artifact.Manifest.Drivers[driver]
	c.describe, c.missing = ref.Describe, ref.Missing
	return c
}

func (c column) transport() string {
	if c.describe == nil {
		if c.missing != "" {
			return "driver missing"
		}
		return unknown
	}
	return join(" ", c.describe.Transport, c.describe.TransportVersion)
}

func (c column) language() string {
	if f := c.fact("language"); f != unknown {
		f, _, _ = strings.Cut(strings.TrimLeft(f[len("language"):], ": "), ",")
		return f
	}
	return unknown
}

func (c column) encryption() string {
	if c.describe == nil || c.describe.Encryption == "" {
		return unknown
	}
	return c.describe.Encryption
}

func (c column) congestion() string {
	return c.distinct(func(s *wire.Settings) string { return s.CongestionControl }, "congestion control", "no congestion")
}

func (c column) minRTO() string {
	return c.distinct(func(s *wire.Settings) string {
		if s.MinRTOUS <= 0 {
			return ""
		}
		return short(float64(s.MinRTOUS)/1e3) + " ms"
	}, "minimum rto", "minimum retransmission", "probe timeout", "no repair")
}

func (c column) lossUnit() string {
	var seen []string
	for _, r := range c.records {
		if r.Link != nil {
			seen = addOnce(seen, r.Link.LossUnit)
		}
	}
	return orUnknown(strings.Join(seen, " or "))
}

func (c column) workers() string {
	var seen []string
	for _, r := range c.records {
		if r.Client.Hello != nil && r.Server.Hello != nil {
			seen = addOnce(seen, fmt.Sprintf("%d / %d", r.Client.Hello.Settings.Workers, r.Server.Hello.Settings.Workers))
		}
	}
	return orUnknown(strings.Join(seen, "; "))
}

func (c column) buffers() string {
	var seen []string
	for _, r := range c.records {
		if s := settings(&r.Client); s != nil && s.RcvBufGranted > 0 {
			seen = addOnce(seen, "C "+kib(s.RcvBufGranted)+" + "+kib(s.SndBufGranted))
		}
		if s := settings(&r.Server); s != nil && s.RcvBufGranted > 0 {
			seen = addOnce(seen, "S "+kib(s.RcvBufGranted)+" + "+kib(s.SndBufGranted))
		}
	}
	const most = 4
	if len(seen) > most {
		return fmt.Sprintf("%s; and %d more", strings.Join(seen[:most], "; "), len(seen)-most)
	}
	return orUnknown(strings.Join(seen, "; "))
}

func kib(n int) string { return thousands(n/1024) + " KiB" }

func (c column) packets() string {
	lo, hi, found := 0.0, 0.0, false
	for _, r := range c.rows {
		if !found || r.Min < lo {
			lo = r.Min
		}
		if !found || r.Max > hi {
			hi = r.Max
		}
		found = true
	}
	if !found {
		return unknown
	}
	return fmt.Sprintf("%.2f–%.2f", lo, hi)
}

// distinct lists what connected sockets said, and where none said anything the driver's own words that hold one of the phrases.
func (c column) distinct(value func(*wire.Settings) string, phrases ...string) string {
	var seen []string
	for _, r := range c.records {
		for _, side := range []*artifacts.Side{&r.Client, &r.Server} {
			if s := settings(side); s != nil && value(s) != "" {
				seen = addOnce(seen, value(s))
			}
		}
	}
	if len(seen) > 0 {
		slices.Sort(seen)
		return strings.Join(seen, ", ")
	}
	return c.fact(phrases...)
}

// settings are the latest effective ones: of a connected socket where they are known.
func settings(s *artifacts.Side) *wire.Settings {
	switch {
	case s.Connected != nil && s.Connected.Settings != nil:
		return s.Connected.Settings
	case s.Done != nil && s.Done.Settings != nil:
		return s.Done.Settings
	case s.Hello != nil:
		return &s.Hello.Settings
	}
	return nil
}

// fact finds the driver's own words.
func (c column) fact(phrases ...string) string {
	if c.describe == nil {
		return unknown
	}
	for _, phrase := range phrases {
		for _, f := range c.describe.Facts {
			if strings.Contains(strings.ToLower(f), phrase) {
				return f
			}
		}
	}
	return unknown
}

func addOnce(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

func join(sep string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}
