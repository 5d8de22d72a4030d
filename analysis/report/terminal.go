package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"transportbench/analysis/summary"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

// Terminal writes one block a profile with a line per variant: what a person reads when a run ends.
func Terminal(w io.Writer, s *summary.Summary) error {
	for _, suite := range []string{wire.SuiteSingle, wire.SuiteSparse, wire.SuiteConcurrent, wire.SuiteLoaded} {
		for _, id := range s.ProfilesOf(suite) {
			if err := terminalProfile(w, s, suite, id); err != nil {
				return err
			}
		}
	}
	t := s.Totals()
	_, err := fmt.Fprintf(w, "\n%d planned: %d ok, %d failed, %d unsupported, %d not run\n", t.Planned, t.OK, t.Failed, t.Unsupported, t.NotRun)
	return err
}

func terminalProfile(w io.Writer, s *summary.Summary, suite, id string) error {
	fmt.Fprintf(w, "\n%s\n", heading(s, suite, id))
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	for _, v := range s.Variants {
		c := matrix.Cell{Profile: id, Variant: v}
		st, rows := s.Status[c], s.Rows[c]
		if st == nil {
			continue
		}
		if len(rows) == 0 {
			fmt.Fprintf(tw, "  %s\tnot measured: %s\n", v, strings.Join(strings.Fields(st.Reason), " "))
			continue
		}
		fmt.Fprintf(tw, "  %s\t%s\tRSS C %.2f MiB / S %.2f MiB\t%s\n", v, terminalValue(suite, rows),
			rows[summary.ClientRSS].Median/mib, rows[summary.ServerRSS].Median/mib, countText(st, rows))
	}
	return tw.Flush()
}

func heading(s *summary.Summary, suite, id string) string {
	p, err := s.Profile(id)
	if err != nil {
		return id
	}
	conns := "1 connection"
	if p.Connections > 1 {
		conns = thousands(p.Connections) + " connections"
	}
	return fmt.Sprintf("%s: %s B, %s, %s", suiteTitle(suite), thousands(p.PayloadBytes), conns, network(p))
}

func terminalValue(suite string, rows map[string]summary.Row) string {
	switch suite {
	case wire.SuiteSparse:
		return "p50 " + scaled(rows[summary.SparseP50], us, "µs") + "\tp99 " + scaled(rows[summary.SparseP99], us, "µs")
	case wire.SuiteLoaded:
		return "p50 " + scaled(rows[summary.LoadedP50], ms, "ms") + "\tp99 " + scaled(rows[summary.LoadedP99], ms, "ms")
	}
	return scaled(rows[summary.Throughput], mib, "MiB/s")
}
