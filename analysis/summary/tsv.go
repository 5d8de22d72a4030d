package summary

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Digits is the number of significant digits of a printed float: sums differ in the last bits between processors, so
// nine digits make derived files the same on all of them.
const Digits = 9

// Format prints a float with Digits significant digits.
func Format(x float64) string { return strconv.FormatFloat(x, 'g', Digits, 64) }

// WriteTSV writes one line per planned cell and metric, in plan order; a cell without a number has one line that says why.
func (s *Summary) WriteTSV(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "profile\tvariant\tmetric\tunit\tn\tmedian\tmin\tmax\tok\tfailed\tunsupported\tnot_run\treason\truns")
	for _, cell := range s.Cells {
		st := s.Status[cell]
		tail := fmt.Sprintf("%d\t%d\t%d\t%d\t%s", st.OK, st.Failed, st.Unsupported, st.NotRun, clean(st.Reason))
		if len(s.Rows[cell]) == 0 {
			fmt.Fprintf(b, "%s\t%s\t-\t-\t0\t\t\t\t%s\t\n", cell.Profile, cell.Variant, tail)
			continue
		}
		for _, m := range Metrics() {
			row, ok := s.Rows[cell][m.Name]
			if !ok {
				continue
			}
			fmt.Fprintf(b, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", cell.Profile, cell.Variant, m.Name, m.Unit, row.N,
				Format(row.Median), Format(row.Min), Format(row.Max), tail, strings.Join(row.Runs, ","))
		}
	}
	return b.Flush()
}

// clean keeps a reason on its line and in its column.
func clean(s string) string { return strings.Map(oneLine, s) }

func oneLine(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}
