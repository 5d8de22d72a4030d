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

// Terminal writes one block a profile with a line per variant: what a person reads when a run ends. Profiles that were not begun
// are counted, not listed: after an interrupt they would hide the others.
func Terminal(w io.Writer, s *summary.Summary) error {
	pending := 0
	for _, suite := range []string{wire.SuiteSingle, wire.SuiteSparse, wire.SuiteConcurrent, wire.SuiteLoaded} {
		for _, id := range s.ProfilesOf(suite) {
			if !begun(s, id) {
				pending++
				continue
			}
			if err := terminalProfile(w, s, suite, id); err != nil {
				return err
			}
		}
	}
	if pending > 0 {
		fmt.Fprintf(w, "\nprofiles not begun: %d\n", pending)
	}
	t := s.Totals()
	_, err := fmt.Fprintf(w, "\n%d planned: %d ok, %d failed, %d unsupported, %d not run\n", t.Planned, t.OK, t.Failed, t.Unsupported, t.NotRun)
	return err
}

// begun reports whether any run of a profile has an outcome.
func begun(s *summary.Summary, id string) bool {
	_, err := s.Profile(id)
	return err == nil
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
		fmt.Fprintf(tw, "  %s\t%s\tpeak RSS: client %.2f MiB, server %.2f MiB\t%s\n", v, terminalValue(suite, rows),
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
	return fmt.Sprintf("%s: %s B, %s, %s", suiteTitle(suite), thousands(p.PayloadBytes), conns, strings.Replace(network(p), "No ", "no ", 1))
}

func terminalValue(suite string, rows map[string]summary.Row) string {
	switch suite {
	case wire.SuiteSparse:
		return "p50 " + medianText(rows[summary.SparseP50], us, "µs") + "\tp99 " + medianText(rows[summary.SparseP99], us, "µs")
	case wire.SuiteLoaded:
		return "p50 " + medianText(rows[summary.LoadedP50], ms, "ms") + "\tp99 " + medianText(rows[summary.LoadedP99], ms, "ms")
	}
	return medianText(rows[summary.Throughput], mib, "MiB/s")
}
