package summary

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"transportbench/artifacts"
)

// WriteBench writes every successful run as one line of the Go benchmark format, so that benchstat compares two artifacts or, with
// -col /col, two columns. The number of iterations is that of burst messages. Format: golang.org/design/14313-benchmark-format.
func WriteBench(w io.Writer, art *artifacts.Artifact) error {
	b := bufio.NewWriter(w)
	m := art.Manifest
	for _, c := range [][2]string{{"artifact", m.ID}, {"kind", m.Kind}, {"matrix", m.Matrix.Name}, {"runtime", m.Runtime}, {"placement", m.Placement.Label}, {"toolchain", m.Code.Toolchain}} {
		fmt.Fprintf(b, "%s: %s\n", c[0], clean(c[1]))
	}
	for _, mt := range Metrics() {
		if mt.Better != 0 {
			fmt.Fprintf(b, "Unit %s better=%s\n", benchUnit(mt), map[int]string{1: "higher", -1: "lower"}[mt.Better])
		}
	}
	fmt.Fprintln(b)
	for _, r := range art.Last() {
		writeBenchRun(b, &r)
	}
	return b.Flush()
}

// writeBenchRun renders one run. The name ends with the profile, which never looks like the format's -N for processors.
func writeBenchRun(b *bufio.Writer, r *artifacts.Record) {
	if r.Outcome != artifacts.OutcomeOK {
		fmt.Fprintf(b, "# %s: %s: %s\n", r.RunID, r.Outcome, clean(r.Reason))
		return
	}
	suite := r.Profile.Suite
	if suite != "" {
		suite = strings.ToUpper(suite[:1]) + suite[1:]
	}
	fmt.Fprintf(b, "Benchmark%s/col=%s/profile=%s %d", suite, r.Variant.Name, r.Profile.ID, r.Profile.Connections*r.Profile.Messages)
	for _, m := range Metrics() {
		if v, ok := m.value(r); ok {
			fmt.Fprintf(b, " %s %s", Format(v), benchUnit(m))
		}
	}
	fmt.Fprintln(b)
}

// benchUnit names a metric as benchstat wants it: a unit of its own for each quantity, ending in the base unit.
func benchUnit(m Metric) string {
	switch m.Unit {
	case "1":
		return m.Name
	case "B/s":
		if m.Name == Throughput {
			return m.Unit
		}
	}
	return m.Name + "-" + m.Unit
}
