package calibrate

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"transportbench/analysis/stats"
)

// row is one line of the table: what was measured, and a cell for each backend.
type row struct {
	name  string
	plain string
	cell  func(Backend) string
}

// WriteText writes the table for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	for _, cells := range r.table() {
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(r.notes(), "\n"))
	return err
}

// WriteMarkdown writes the table for a page.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	for i, cells := range r.table() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(cells)) + "\n")
		}
	}
	b.WriteString("\n")
	for _, n := range r.notes() {
		b.WriteString(n + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table is the header and all rows.
func (r *Report) table() [][]string {
	head := []string{"", "no impairment"}
	for _, b := range r.Backends {
		head = append(head, b.Name)
	}
	out := [][]string{head}
	for _, l := range r.rows() {
		cells := []string{l.name, l.plain}
		for _, b := range r.Backends {
			text := "unsupported"
			if b.Unsupported == "" {
				text = l.cell(b)
			}
			cells = append(cells, text)
		}
		out = append(out, cells)
	}
	return out
}

func (r *Report) rows() []row {
	var rows []row
	for _, direction := range []string{"to-server", "to-client"} {
		for _, ppm := range r.levels() {
			rows = append(rows, row{fmt.Sprintf("lost at %g %%, %s", float64(ppm)/1e4, direction), "", lossCell(ppm, direction, countText)})
		}
	}
	for _, direction := range []string{"to-server", "to-client"} {
		for _, ppm := range r.levels() {
			if ppm > 0 {
				rows = append(rows, row{fmt.Sprintf("runs test at %g %%, %s", float64(ppm)/1e4, direction), "", lossCell(ppm, direction, runsText)})
			}
		}
	}
	return append(rows,
		row{"arrived after a later one, all of the above", "", orderText},
		row{"same seed, same drops", "", replayText},
		row{"sender with UDP_SEGMENT: one loss takes", "", batchText},
		row{"RTT idle: min / p50 / p99 / max", spreadText(r.Plain.RTT), func(b Backend) string { return delayText(b, func(d *Delay) string { return spreadText(d.Idle) }) }},
		row{"RTT loaded", "", func(b Backend) string { return delayText(b, func(d *Delay) string { return spreadText(d.Loaded) }) }},
		row{"RTT p50 beyond nominal and base", "", func(b Backend) string { return delayText(b, func(d *Delay) string { return ms(d.AddedNS) }) }},
		row{"added CPU a packet, median (range)", "0", func(b Backend) string { return addedText(b.Cost) }},
		row{"throughput, median (range)", rateText(&r.Plain.Cost), func(b Backend) string { return rateText(b.Cost) }},
	)
}

// levels are the planned loss rates that some backend was measured at, in order.
func (r *Report) levels() []int {
	var out []int
	for _, b := range r.Backends {
		for i := 0; i < len(b.Loss) && len(out)*2 < len(b.Loss); i += 2 {
			out = append(out, b.Loss[i].PlannedPPM)
		}
	}
	return out
}

func lossCell(ppm int, direction string, text func(Loss) string) func(Backend) string {
	return func(b Backend) string {
		for _, l := range b.Loss {
			if l.PlannedPPM == ppm && l.Direction == direction {
				return text(l)
			}
		}
		return "-"
	}
}

func countText(l Loss) string {
	text := fmt.Sprintf("%d of %d (%d to %d)", l.Lost, l.Packets, l.BandLow, l.BandHigh)
	if !l.Inside {
		text += " OUTSIDE"
	}
	if l.BufferDrops+l.QueueDrops > 0 {
		text += fmt.Sprintf(", %d dropped elsewhere", l.BufferDrops+l.QueueDrops)
	}
	return text
}

func runsText(l Loss) string {
	return fmt.Sprintf("z %+.2f, chance %.3g", l.Runs.Z, l.Runs.Chance)
}

func orderText(b Backend) string {
	var late, all int64
	for _, l := range b.Loss {
		late, all = late+l.OutOfOrder, all+l.Packets-l.Lost
	}
	return fmt.Sprintf("%d of %d", late, all)
}

func replayText(b Backend) string {
	switch {
	case b.Replay == nil:
		return "-"
	case b.Replay.SameDrops:
		return fmt.Sprintf("yes, %d of %d", b.Replay.Lost, b.Replay.Packets)
	}
	return "no (unseeded)"
}

func batchText(b Backend) string {
	if b.Batch == nil {
		return "-"
	}
	if b.Batch.SenderRefused != "" {
		return b.Batch.SenderRefused
	}
	text := fmt.Sprintf("a %s: %d of %d (%d to %d)", b.Batch.Unit, b.Batch.UnitsLost, b.Batch.Units, b.Batch.BandLow, b.Batch.BandHigh)
	if !b.Batch.Inside {
		text += " OUTSIDE"
	}
	return text
}

func delayText(b Backend, text func(*Delay) string) string {
	if b.Delay == nil {
		return "cannot delay"
	}
	return text(b.Delay)
}

func spreadText(s Spread) string {
	return fmt.Sprintf("%s / %s / %s / %s", ms(s.MinNS), ms(s.P50NS), ms(s.P99NS), ms(s.MaxNS))
}

func ms(ns int64) string { return fmt.Sprintf("%.3f ms", float64(ns)/1e6) }

func addedText(c *Cost) string {
	if c == nil || len(c.AddedCPUNS) == 0 {
		return "-"
	}
	least, most := stats.Range(c.AddedCPUNS)
	return fmt.Sprintf("%+.2f us (%+.2f to %+.2f)", stats.Median(c.AddedCPUNS)/1e3, float64(least)/1e3, float64(most)/1e3)
}

func rateText(c *Cost) string {
	if c == nil || len(c.BytesPerS) == 0 {
		return "-"
	}
	const mib = 1 << 20
	least, most := stats.Range(c.BytesPerS)
	return fmt.Sprintf("%.2f MiB/s (%.2f to %.2f)", stats.Median(c.BytesPerS)/mib, least/mib, most/mib)
}

// notes say what the numbers mean and what is missing.
func (r *Report) notes() []string {
	notes := []string{fmt.Sprintf("Kernel %s, %s, %d CPUs (%s). In brackets: the exact binomial band of %g %%; of CPU time and throughput the range of %d rounds. Delay %s.",
		r.Machine.Kernel, r.Machine.Arch, r.Machine.CPUs, r.Machine.CPUModel, 100*(1-BandChance), r.Options.Rounds, r.delayNote())}
	if r.Machine.Emulated {
		notes = append(notes, "The processor is emulated in software: shares, counts and seeds hold, times and rates are the emulator's.")
	}
	for _, b := range r.Backends {
		if b.Unsupported != "" {
			notes = append(notes, b.Name+" is unsupported here: "+b.Unsupported)
		}
	}
	return notes
}

func (r *Report) delayNote() string {
	for _, b := range r.Backends {
		if d := b.Delay; d != nil {
			return fmt.Sprintf("%s one way, nominal RTT %s; loaded with %d in flight", ms(d.OneWayNS), ms(d.NominalNS), d.Window)
		}
	}
	return "not measured"
}
